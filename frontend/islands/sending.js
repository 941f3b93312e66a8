// A form that is on its way says so on its button, and is not sent a second time.
import { icon } from "./icon.js";

const SOON = 250;
const LATEST = 60_000;
const going = new WeakSet();

document.addEventListener("submit", (event) => {
  const { target: form, submitter: button } = event;
  if (event.defaultPrevented || form.getAttribute("method") !== "post" || "downloads" in form.dataset) return;
  if (going.has(form)) {
    event.preventDefault();
    return;
  }
  going.add(form);
  setTimeout(() => going.delete(form), LATEST);
  if (button?.matches(".button")) setTimeout(() => turn(button), SOON);
});

function turn(button) {
  button.classList.add("busy");
  button.setAttribute("aria-busy", "true");
  button.querySelector(".icon")?.remove();
  button.prepend(icon("loader-circle"));
}
