"""How the documentation is built: pages are MyST Markdown, notebooks are executed.

The command, which needs Python 3.11 to 3.14 and pip only, stands in docs/contributing.md.
"""

import os
import sys
from pathlib import Path

import liptest

_HERE = Path(__file__).parent
_EXTENSIONS = str(_HERE / "_ext")
sys.path.insert(0, _EXTENSIONS)
# Commands in notebooks: those of this environment, without colours, of the width of a page.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
os.environ["PYTHONPATH"] = os.pathsep.join(
    [_EXTENSIONS, *filter(None, [os.environ.get("PYTHONPATH")])]
)
os.environ.update(NO_COLOR="1", PY_COLORS="0", TERM="dumb", COLUMNS="80")

project = "liptest"
author = "the authors of liptest"
copyright = "the authors of liptest, Apache License 2.0"
release = version = liptest.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
extensions += ["names", "links", "streams", "mathml"]
exclude_patterns = ["_ext"]
html_theme = "furo"
html_title = f"liptest {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
# Edit links lead to the repository that the build is of, where its surroundings say which.
if {"GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_REF_NAME"} <= set(os.environ):
    html_theme_options |= {
        "source_repository": f"{os.environ['GITHUB_SERVER_URL']}/{os.environ['GITHUB_REPOSITORY']}",
        "source_branch": os.environ["GITHUB_REF_NAME"],
        "source_directory": "docs/",
    }
highlight_language = "none"
smartquotes = False
# Code blocks in dark mode, readable in both.
pygments_style, pygments_dark_style = "friendly", "github-dark"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
# Prices and shell variables are not formulas.
myst_dmath_allow_digits = False
html_math_renderer = "mathml"
myst_heading_anchors = 4

# Every notebook runs, each time, and an error in one ends the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True

autodoc_default_options = {"members": True, "exclude-members": "__new__,__init__"}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_attr_annotations = False
