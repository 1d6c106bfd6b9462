// Loads the page again when the submission that it shows has another state,
// and a page that waits for the releaser after a second.
if (document.querySelector("[data-again]")) {
  setTimeout(() => location.reload(), 1000);
}
const place = document.querySelector("[data-events]");
if (place) {
  const source = new EventSource(place.dataset.events);
  source.addEventListener("state", (event) => {
    if (event.data !== place.dataset.state) {
      source.close();
      location.reload();
    }
  });
}
