// Loads the page again when the submission that it shows has another state.
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
