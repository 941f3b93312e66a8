// An icon, as templates draw it.
const SVG = "http://www.w3.org/2000/svg";

export function icon(name) {
  const drawn = document.createElementNS(SVG, "svg");
  drawn.setAttribute("class", "icon");
  drawn.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `${document.querySelector('meta[name="icons"]').content}#${name}`);
  drawn.append(use);
  return drawn;
}
