// Links with data-dialog open over the page: the dialog that they name, or the page that they lead to.
import htmx from "htmx.org";
import { icon } from "./icon.js";

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-dialog]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const there = link.dataset.dialog ? document.querySelector(link.dataset.dialog) : null;
  if (!there && link.dataset.dialog) return;
  event.preventDefault();
  link.closest("[popover]")?.hidePopover();
  if (there) there.showModal();
  else open(link);
});

document.addEventListener("click", (event) => {
  const dialog = event.target;
  // A click on the dialog itself is one beside what is in it.
  if (dialog instanceof HTMLDialogElement && dialog.matches(".dialog") && isOutside(dialog, event)) dialog.close();
});

async function open(link) {
  const answer = await fetch(link.href, { headers: { Accept: "text/html" } }).catch(() => null);
  const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
  const content = page && page.querySelector("main");
  if (!content) {
    location.href = link.href;
    return;
  }
  const dialog = made(page.querySelector("h1")?.textContent ?? link.textContent, content);
  document.body.append(dialog);
  htmx.process(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  // Sent from here, its form is behind the answer: back leads to the page with the form.
  dialog.addEventListener("submit", (event) => event.defaultPrevented || history.pushState(null, "", link.href));
  dialog.showModal();
}

function made(title, content) {
  const dialog = document.createElement("dialog");
  dialog.className = "dialog";
  dialog.setAttribute("aria-labelledby", "dialog-title");
  const head = document.createElement("header");
  head.className = "dialog-head";
  const name = document.createElement("h2");
  name.id = "dialog-title";
  name.textContent = title.trim();
  const close = document.createElement("button");
  Object.assign(close, { type: "button", className: "button quiet square" });
  close.setAttribute("aria-label", "Close");
  close.append(icon("x"));
  close.addEventListener("click", () => dialog.close());
  head.append(name, close);
  const body = document.createElement("div");
  body.className = "dialog-body";
  body.append(...content.childNodes);
  body.querySelector("h1")?.closest(".page-head, h1")?.remove();
  for (const cancel of body.querySelectorAll("[data-cancel]")) {
    cancel.addEventListener("click", (event) => (event.preventDefault(), dialog.close()));
  }
  dialog.append(head, body);
  return dialog;
}

function isOutside(dialog, { clientX: x, clientY: y }) {
  const box = dialog.getBoundingClientRect();
  return x < box.left || x > box.right || y < box.top || y > box.bottom;
}
