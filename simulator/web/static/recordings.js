// The recorded sessions there are, with the ways to label and to review them.
import { ask, byId, clock, count, el, failed, page, plain, put, text } from "/static/base.js";

page({ title: "Recordings" });

function row(one) {
  const name = one.session && one.session !== one.name ? `${one.session} (${one.name})` : one.name;
  const go = (what) => el("a", { href: `/${what.toLowerCase()}/${one.id}`, "aria-label": `${what} ${plain(name).slice(0, 100)}` }, what);
  const cells = one.why
    ? [el("td", { colspan: 4 }, el("span", { class: "bad" }, "✕ "), text(one.why, { limit: 200 }))]
    : [el("td", { class: "number", style: { minWidth: "7ch" } }, text(one.user, { limit: 40 })), el("td", { class: "number" }, clock(one.length_s)), el("td", { class: "number" }, count(one.rows)), el("td", {}, plain(one.state))];
  return el("tr", {}, el("th", { scope: "row" }, text(name, { limit: 80 }), one.why ? "" : [el("br"), go("Label"), " · ", go("Review")]), cells);
}

try {
  const { recordings, editable } = await ask("/api/recordings");
  if (!editable) put(byId("notes"), el("p", { class: "notice" }, "These pages only show. To label and to review, start them with: ", el("code", {}, "proact view --edit FOLDER")));
  put(byId("list"), recordings.length
    ? el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Table of recordings" }, el("table", {}, el("thead", {}, el("tr", {}, ["recording", "of", "length", "snapshots", "state"].map((what, i) => el("th", { scope: "col", class: i && i < 4 ? "number" : null }, what)))), el("tbody", {}, recordings.map(row))))
    : el("p", {}, "No recorded session lies here: name its folder, as in proact view --edit FOLDER."));
} catch (error) { failed(byId("list"), error); }
