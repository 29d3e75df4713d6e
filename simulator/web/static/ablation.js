// Page 5: a study as a map of two of its axes, with what stands beside it. All of it is in the study's summary.json.
import { ask, byId, count, el, failed, fixed, key, page, put, signed, text } from "/static/base.js";
import { figure, table } from "/static/figures.js";

page({ title: "Studies" });
const content = byId("content");
const id = location.pathname.split("/")[2];
const number = (x) => fixed(x, Math.abs(x ?? 0) < 9.9995 ? 3 : 1);

function choose({ known }) {
  if (!known.length) return [el("p", { class: "notice" }, "There are no studies here. proact sweep FILE plays one.")];
  return [el("ul", { class: "choices" }, known.map((one) => el("li", {}, el("a", { href: `/ablation/${one.id}` }, text(one.name, { limit: 120 })))))];
}

// A choice among names; what is chosen goes into the address.
function select(name, label, values, chosen) {
  const options = values.map((value) => el("option", { value, selected: value === chosen }, value));
  return el("label", { for: `pick-${name}` }, label, el("select", { id: `pick-${name}`, name, on: { change: (event) => go({ [name]: event.target.value }) } }, options));
}

function go(change) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(change)) query.set(name, value);
  history.pushState(null, "", `${location.pathname}?${query}`);
  show();
}

function controls(data) {
  const axes = Object.keys(data.axes), { view } = data;
  const other = (axis) => axes.filter((one) => one !== axis || axes.length < 2);
  return el("form", { class: "controls", "aria-label": "What the map shows", on: { submit: (event) => event.preventDefault() } },
    select("metric", "Figure", data.metrics.map((m) => m.name), view.metric),
    axes.length ? select("rows", "Down", other(view.columns), view.rows) : null,
    axes.length > 1 ? select("columns", "Across", other(view.rows), view.columns) : null,
    axes.length > 1 ? el("button", { type: "button", on: { click: () => go({ rows: view.columns, columns: view.rows }) } }, "Turn ", el("kbd", {}, "t")) : null,
    Object.entries(view.fixed).map(([axis, value]) => select(`at.${axis}`, axis, data.axes[axis], value)));
}

function map(data) {
  const { view } = data, metric = data.metrics.find((m) => m.name === view.metric);
  const against = Object.entries(data.baseline).map(([axis, value]) => `${axis} ${value}`).join(", ") || "the baseline";
  const signs = [metric.direction === "down" ? "darker: less, which is better" : metric.direction === "up" ? "darker: more, which is better" : "darker: more", "the same shades at every value of the other axes",
    data.hatched ? `hatched: the interval of the difference to ${against} holds 0, or no session differs` : data.gains ? `nothing is hatched: each difference to ${against} is clear, or is not known` : "differences to a baseline are not in this summary, so nothing is hatched",
    data.marks, "below each figure its 95 % interval"];
  return el("section", { "aria-labelledby": "map-head" },
    el("h2", { id: "map-head" }, `${view.metric} [${metric.unit}] by ${view.rows}${view.columns ? ` and ${view.columns}` : ""}`),
    figure(data.map, `${signs.join("; ")}.${metric.formula ? ` ${view.metric} = ${metric.formula}.` : ""}`, { label: "map" }),
    el("div", { class: "figures" }, data.beside.map((one) => figure(one.map, `${one.title}; darker: less.`))));
}

function effects(data) {
  if (!data.effects_picture) return null;
  const picture = figure(data.effects_picture, "What each value is worth against the baseline's, all else the same: paired over sessions and the other axes; better to the right, all rows on one scale.");
  picture.classList.add("forest");
  return el("section", { "aria-labelledby": "effects-head" }, el("h2", { id: "effects-head" }, "Marginal effects"), picture,
    table(["data", "axis", "value", "against", "there", "here", "gain", "95 % interval", "p (Holm)", "sessions", "pairs of cells"], data.effects.map((e) => [
      e.data ? text(e.data, { limit: 60 }) : "–", e.axis, text(e.value, { limit: 60 }), text(e.against, { limit: 60 }), number(e.first), number(e.second), signed(e.gain, 3),
      e.low === null ? "–" : `${number(e.low)} … ${number(e.high)}`, number(e.adjusted), count(e.n), count(e.n_cells)]), `Marginal effects on ${data.view.metric}`));
}

function cells(data) {
  const rows = data.cells.map((c) => [
    c.runs.length ? el("a", { href: `/run/${c.runs[0]}` }, text(c.name, { limit: 80 })) : text(c.name, { limit: 80 }),
    c.value === null ? "–" : `${number(c.value)}${c.best ? " ★" : c.like_best ? " †" : ""}`, c.low === null ? "–" : `${number(c.low)} … ${number(c.high)}`,
    count(c.n), count(c.p50), count(c.p95), number(c.cost), count(c.units.done), count(c.units.erred), count(c.units.missing),
    `${c.latency_source ?? "–"}${c.marked ? ", beside others" : ""}`]);
  return el("section", { "aria-labelledby": "cells-head" }, el("h2", { id: "cells-head" }, "All cells"),
    table(["cell", data.view.metric, "95 % interval", "sessions", "p50 (ms)", "p95 (ms)", "cost", "done", "erred", "missing", "latency"], rows, "All cells; erred and missing units are no zeros"));
}

async function show() {
  content.setAttribute("aria-busy", "true");
  const focus = document.activeElement?.id;
  try {
    const data = await ask(id ? `/api/ablation/${id}${location.search}` : "/api/ablation");
    if (data.known) put(content, choose(data));
    else {
      put(byId("head"), "Study: ", text(data.study.name, { limit: 80 }));
      put(content, data.caveats.map((caveat) => el("p", { class: "notice" }, text(caveat, { limit: 600 }))), controls(data), map(data),
        data.curves.length ? el("section", { "aria-labelledby": "curves-head" }, el("h2", { id: "curves-head" }, "Curves"),
          el("div", { class: "figures" }, data.curves.map((one) => figure(one.picture, `${one.caption}.`)))) : null,
        effects(data), cells(data));
      if (focus) byId(focus)?.focus();
      turned = () => go({ rows: data.view.columns, columns: data.view.rows });
      next = () => { const names = data.metrics.map((m) => m.name); go({ metric: names[(names.indexOf(data.view.metric) + 1) % names.length] }); };
    }
  } catch (error) {
    failed(content, error);
  }
  content.setAttribute("aria-busy", "false");
}

let turned = () => {}, next = () => {};
if (id) {
  key("m", "show the next figure", () => next());
  key("t", "turn the map", () => turned());
}
addEventListener("popstate", show);
await show();
