// Everything that runs in the browser: htmx, and a few islands. Every page works without any of it.
import htmx from "htmx.org";
import "./islands/action-menu.js";
import "./islands/command-palette.js";
import "./islands/confirm-dialog.js";
import "./islands/copy-text.js";
import "./islands/dialogs.js";
import "./islands/sending.js";
import "./islands/theme-toggle.js";
import "./islands/toast-list.js";
import { token } from "./islands/token.js";

document.addEventListener("htmx:configRequest", (event) => {
  event.detail.headers["X-CSRF-Token"] = token();
});
window.htmx = htmx;
