// Figures that the server drew: it sends elements, not HTML, and they are made here one by one.
import { el, svg } from "/static/base.js";

// [tag, attributes, text, tip, inner] as an element.
export function drawing([tag, attributes, text, tip, inner]) {
  const node = svg(tag, attributes, tip === null ? null : svg("title", {}, tip), text);
  node.append(...inner.map(drawing));
  // As large as the text around it, on a wall too; pixels of it are those of usual text.
  if (tag === "svg" && Number(attributes.width)) node.style.width = `${Number(attributes.width) / 16}rem`;
  return node;
}

// A figure with what it shows below it; a wide one scrolls by itself.
export function figure(told, caption, { label = caption } = {}) {
  const scroller = el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label }, drawing(told));
  return el("figure", {}, scroller, el("figcaption", {}, caption));
}

// A table: heads, rows of cells (the first names the row; numbers are set right).
export function table(heads, rows, caption) {
  const numeric = (cell) => typeof cell === "string" && /^[−+\d<–]/.test(cell);
  const body = rows.map(([name, ...cells]) => el("tr", {}, el("th", { scope: "row" }, name),
    cells.map((cell) => el("td", { class: numeric(cell) ? "number" : undefined }, cell))));
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption },
    el("table", {}, el("caption", {}, caption),
      el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, body)));
}
