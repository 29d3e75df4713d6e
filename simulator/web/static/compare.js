// Page 4: runs held against the first of them. Numbers and refusals are those of `proact compare`.
import { ask, byId, count, counted, el, failed, fixed, key, page, put, text } from "/static/base.js";
import { figure, table } from "/static/figures.js";

page({ title: "Compare" });
const content = byId("content");
const query = new URLSearchParams(location.search);
const ids = (query.get("runs") ?? "").split(",").filter(Boolean);
const LETTERS = "ABCDEFGH";

// The address of this page for other runs.
function here(runs, more = {}) {
  return `/compare?${new URLSearchParams({ runs: runs.join(","), ...more })}`.replaceAll("%2C", ",");
}

// To the timeline of a unit with both runs in its lanes.
function way(to) {
  return `/run/${encodeURIComponent(to.run)}/${encodeURIComponent(to.unit)}#t=${to.t}${to.need === undefined ? "" : `&need=${encodeURIComponent(to.need)}`}&runs=${to.runs.join(",")}`;
}

function choose({ known }) {
  if (known.length < 2) return [el("p", { class: "notice" }, "A comparison takes two runs, and there are not so many here. proact run SCENARIO plays one.")];
  const boxes = known.map((run) => el("input", { type: "checkbox", name: "run", value: run.id, id: `run-${run.id}` }));
  const button = el("button", { type: "submit", class: "main", disabled: true }, "Compare");
  const ticked = () => boxes.filter((box) => box.checked).map((box) => box.value);
  const form = el("form", { on: { submit: (event) => { event.preventDefault(); location.href = here(ticked()); }, change: () => { button.disabled = ticked().length < 2; } } },
    el("p", {}, "Tick two runs or more; the others are held against the first."),
    el("ul", { class: "choices" }, known.map((run, i) => el("li", {}, el("label", { for: `run-${run.id}` }, boxes[i], " ", text(run.name, { limit: 120 }))))),
    button);
  return [form];
}

function sides(runs) {
  return el("ul", { class: "sides" }, runs.map((run, i) => el("li", { class: "card" },
    el("span", { class: "letter" }, `${LETTERS[i]}${i ? "" : " (baseline)"} `), el("a", { href: `/run/${run.id}` }, text(run.name, { limit: 80 })),
    el("p", {}, text(run.run, { limit: 200 })),
    el("p", {}, el("span", { class: "badge" }, `latency ${run.latency_source}`), " ",
      `${counted(run.n_units, "unit")}, ${counted(run.decisions, "decision")}${run.failed ? `, ✕ ${count(run.failed)} failed` : ""}${run.status === "done" ? "" : `, status ${run.status}`}${run.sees_truth ? ", was given the truth" : ""}`))));
}

function refusal(data) {
  const links = [
    data.can_force ? el("a", { class: "button", href: here(ids, { force: "1" }) }, "Compare all the same") : null,
    data.can_common ? el("a", { class: "button", href: here(ids, { common: "1" }) }, "Only sessions of both") : null,
  ];
  return [el("p", { class: "failed", role: "alert" }, "⚠ ", text(data.refused, { limit: 1500 })), el("p", {}, links)];
}

// To four digits, as in the figures.
const number = (x) => (x === null || x === undefined ? "–" : Math.abs(x) >= 1000 && Math.abs(x) < 1e7 ? fixed(x, 0) : String(Number(x.toPrecision(4))).replace("-", "−"));
const change = (x) => (x > 0 ? "+" : "") + number(x);
const p = (x) => (x === null || x === undefined ? "–" : x < 0.001 ? "<.001" : fixed(x, 3));

function rows(c, letter) {
  const of = c.n_sessions;
  return table(["metric", "A", letter, `${letter} − A`, "95 % interval", "p (Holm)", "better", "equal", "worse", "none", "would show from"], c.rows.map((row) => [
    `${row.metric} [${row.unit}]${row.better === "down" ? " ↓" : row.better === "up" ? " ↑" : ""}`,
    ...(row.a === undefined ? ["–", "–", text(row.reason ?? "–"), "–", "–", "–", "–", "–", "–", "–"] : [
      number(row.a), number(row.b), change(row.difference),
      row.low === null ? "–" : `${number(row.low)} … ${number(row.high)}${row.few ? " (too narrow)" : ""}`,
      p(row.p), ...["better", "equal", "worse", "no_figure"].map((name) => count(row.standing?.[name])), number(row.detectable)])]),
    `All figures; ${letter} is better, equal or worse in so many of ${counted(of, "session")}, and in “none” a side has no such figure; “would show from”: the true difference that 4 of 5 such comparisons find${c.rows.some((row) => row.few) ? "; “too narrow”: fewer than 6 that differ, so the interval is; p holds" : ""}`);
}

// What a reader must know beside the figures, as proact compare says it.
function beside(c, letter) {
  const amiss = c.amiss[0] && c.amiss[0] === c.amiss[1] ? [`A and ${letter}: ${c.amiss[0]}`] : [["A", c.amiss[0]], [letter, c.amiss[1]]].filter(([, said]) => said).map(([who, said]) => `${who}: ${said}`);
  const lines = [...amiss, ...c.missing];
  return lines.length ? el("ul", { class: "beside" }, lines.map((line) => el("li", {}, text(line, { limit: 600 })))) : null;
}

function flips(c, letter) {
  const f = c.flips;
  if (!f) return [];
  const list = (items, n, who) => (n ? [el("h4", {}, `Only ${who}: ${count(n)}`), el("ul", { class: "flips" }, items.map((item) =>
    el("li", {}, el("a", { href: way(item.href) }, text(item.name, { limit: 120 }))))), n > items.length ? el("p", {}, `and ${count(n - items.length)} more`) : null] : []);
  return [el("h3", {}, `Who got which right (${f.of})`),
    table([f.of, `right by ${letter}`, `wrong by ${letter}`], [["right by A", count(f.both), count(f.n_first)], ["wrong by A", count(f.n_second), count(f.neither)]],
      `${f.of}; McNemar p ${p(f.p)}, too liberal: items of a session are not independent`),
    ...list(f.only_first, f.n_first, "A"), ...list(f.only_second, f.n_second, letter)];
}

function drivers(c, letter) {
  if (!c.drivers) return [];
  const d = c.drivers;
  return [table([d.unit, "difference it makes", "A", letter], d.items.map((item) => [
    item.href ? el("a", { href: way(item.href) }, text(item.name, { limit: 80 })) : text(item.name, { limit: 80 }),
    change(item.contribution), number(item.a), number(item.b)]), `What ${d.metric} would lose of its difference without a ${d.unit}`)];
}

function comparison(c, i, runs) {
  const letter = LETTERS[i + 1], none = c.rows.every((row) => row.low === undefined || row.low === null || (row.low <= 0 && row.high >= 0));
  const section = el("section", { "aria-labelledby": `vs-${i}` }, el("h2", { id: `vs-${i}` }, `${letter} against A: `, text(runs[i + 1].name, { limit: 80 })),
    c.forced.map((reason) => el("p", { class: "forced" }, "⚠ forced: ", text(reason, { limit: 900 }))),
    el("p", {}, `${counted(c.n_sessions, "session")} of both${c.n_units > c.n_sessions ? `, played as ${counted(c.n_units, "unit")} (units of one session are counted together)` : ""}${c.left_out ? `; ${counted(c.left_out, "unit")} of one side only left out` : ""}. `,
      none ? "No evidence of a difference: every interval holds 0, or there is none." : ""));
  const forest = figure(c.forest, "Differences, paired over sessions, with 95 % intervals; each row on its own scale, better to the right.");
  forest.classList.add("forest");
  section.append(...[forest, rows(c, letter), beside(c, letter), ...drivers(c, letter), ...flips(c, letter)].filter(Boolean));
  return section;
}

function figures(data) {
  const all = [
    data.pareto && figure(data.pareto, `${data.quality} against the 95th percentile of latency; colour: ${data.colour}, shape: memory; dashed: one second.`),
    data.deadline && figure(data.deadline, "Quality against the deadline: F1 if only help that came within τ of a need's opening counts."),
    data.ecdf && figure(data.ecdf, "Latency: the share of decisions that took at most so long."),
  ].filter(Boolean);
  return all.length ? el("section", { "aria-labelledby": "time-head" }, el("h2", { id: "time-head" }, "Quality and time"), el("div", { class: "figures" }, all)) : null;
}

try {
  const more = ["force", "common"].filter((name) => query.get(name) === "1").map((name) => `&${name}=1`).join("");
  const data = await ask(`/api/compare?runs=${encodeURIComponent(ids.join(","))}${more}`);
  if (data.known) put(content, choose(data));
  else {
    put(content, sides(data.runs), data.refused ? refusal(data) : [figures(data), ...data.comparisons.map((c, i) => comparison(c, i, data.runs))],
      el("p", {}, el("a", { href: "/compare" }, "Choose other runs")));
    key("b", "make the next run the baseline", () => { location.href = here([...ids.slice(1), ids[0]], Object.fromEntries(["force", "common"].filter((n) => query.get(n) === "1").map((n) => [n, "1"]))); });
  }
} catch (error) {
  failed(content, error);
}
content.setAttribute("aria-busy", "false");
