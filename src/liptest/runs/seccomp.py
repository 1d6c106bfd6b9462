"""A filter of system calls for a process that is about to load foreign code (Linux).

No process more, no other program, no signal to others, no network, no memory beside that of the
process, nothing that changes what the process sees or what the machine is. It holds for the
superuser too, whom limits of processes do not bind, and where there is no bubblewrap. Threads,
which some packages start when they are imported, are left to the limits.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import signal
import struct
import sys

_NAMES = (
    *("execve", "execveat", "ptrace", "kill", "tkill", "tgkill", "socket"),
    *("socketpair", "io_uring_setup", "bpf", "userfaultfd", "perf_event_open", "mount", "umount2"),
    *("unshare", "setns", "pivot_root", "keyctl", "add_key", "request_key", "process_vm_readv"),
    *("process_vm_writev", "pidfd_open", "pidfd_send_signal", "pidfd_getfd", "rt_sigqueueinfo"),
    *("rt_tgsigqueueinfo", "open_tree", "move_mount", "fsopen", "fsmount", "mount_setattr"),
    *("init_module", "finit_module", "kexec_load", "kexec_file_load", "reboot", "swapon"),
    *("swapoff", "sethostname", "setdomainname", "clock_settime", "settimeofday", "acct"),
    *("quotactl", "chroot", "open_by_handle_at", "fanotify_init", "syslog"),
    # Memory that the limit of addresses does not count.
    *("memfd_create", "memfd_secret", "shmget", "msgget", "semget", "mq_open"),
    *("fork", "vfork", "iopl", "ioperm"),
)
# Machine -> its mark, its number of clone, and those of the calls above; the newer one has not the
# last four.
_MACHINES: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "x86_64": (
        0xC000003E,
        56,
        (
            *(59, 322, 101, 62, 200, 234, 41, 53, 425, 321, 323, 298, 165, 166, 272),
            *(308, 155, 250, 248, 249, 310, 311, 434, 424, 438, 129, 297),
            *(428, 429, 430, 432, 442, 175, 313, 246, 320, 169, 167, 168, 170, 171, 227, 164),
            *(163, 179, 161, 304, 300, 103, 319, 447, 29, 68, 64, 240, 57, 58, 172, 173),
        ),
    ),
    "aarch64": (
        0xC00000B7,
        220,
        (
            *(221, 281, 117, 129, 130, 131, 198, 199, 425, 280, 282, 241, 40, 39, 97),
            *(268, 41, 219, 217, 218, 270, 271, 434, 424, 438, 138, 240),
            *(428, 429, 430, 432, 442, 105, 273, 104, 294, 142, 224, 225, 161, 162, 112, 170),
            *(89, 60, 51, 265, 262, 116, 279, 447, 194, 186, 190, 180),
        ),
    ),
}
# What a process does with workers of its own.
_OWN = frozenset({"fork", "vfork", "kill", "tgkill"})
_NO_CALL = 0x3FFFFFFF
_SIGNAL_OF_PARENT = 1
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000 | errno.EPERM
# What clone3 asks for cannot be looked at; without it the C library asks clone.
_NO_SUCH_CALL, _CLONE3, _THREAD = 0x00050000 | errno.ENOSYS, 435, 0x10000
_LOAD, _EQUAL, _AT_LEAST, _HAS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# Numbers from here on are those of another way to call, which would pass by.
_OTHER_CALLS = 0x40000000


def refuse_calls(*, workers: bool = False) -> bool:
    """Refuse these calls from now on, for ever; False where that cannot be done here.

    With ``workers`` processes may be started and signalled: a jail has no others.
    """
    machine = _MACHINES.get(platform.machine())
    if not sys.platform.startswith("linux") or machine is None:
        return False
    mark, clone, numbers = machine
    if workers:
        spared = {number for name, number in zip(_NAMES, numbers, strict=False) if name in _OWN}
        # No call has this number, so that every clone passes.
        clone, numbers = _NO_CALL, tuple(call for call in numbers if call not in spared)
    text = _program(mark, clone, numbers)
    library = ctypes.CDLL(None, use_errno=True)
    held = ctypes.create_string_buffer(text, len(text))
    program = struct.pack("HxxxxxxP", len(text) // 8, ctypes.addressof(held))
    head = ctypes.create_string_buffer(program, len(program))
    if library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    done: int = library.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(head), 0, 0)
    return done == 0


def end_with_parent() -> None:
    """This process ends when the one that started it does, however that ends."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_SIGNAL_OF_PARENT, signal.SIGKILL, 0, 0, 0)


def _program(mark: int, clone: int, numbers: tuple[int, ...]) -> bytes:
    """Instructions for the kernel: (code, jump if true, jump if false, constant)."""
    count = len(numbers)
    steps = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 0, count + 7, mark),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, count + 5, 0, _OTHER_CALLS),
        (_EQUAL, count + 5, 0, _CLONE3),
        (_EQUAL, 0, 2, clone),
        (_LOAD, 0, 0, 16),
        (_HAS, count, count + 1, _THREAD),
    ]
    steps += [(_EQUAL, count - place, 0, number) for place, number in enumerate(numbers)]
    steps += [(_RETURN, 0, 0, answer) for answer in (_ALLOW, _ERROR, _NO_SUCH_CALL)]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
