// The index of runs: one row a run; filter, sort, tick two or more to compare. Rows come as the server reads them.
import { ask, byId, count, counted, el, failed, fixed, key, listen, ms, page, plain, put, text } from "/static/base.js";

page({ title: "Runs" });
const PAGE = 100;
const figure = (name) => (run) => run.figures?.[name]?.value ?? null;
const quality = (run) => run.figures?.F1_rt ?? run.figures?.S_final ?? run.figures?.F1 ?? null;
const STATES = { done: "● done", running: "▶ running", interrupted: "◐ interrupted", stopped: "◐ stopped", killed: "◐ killed", some_units_erred: "▲ some units erred", broken: "✕ cannot be read" };
const unknown = (x) => x === null || x === undefined || x === "";
const latency = (x) => (x !== null && x < 1 ? "<1 ms" : ms(x));

// Name, how it is sorted (smallest first unless it says so), what stands in the cell.
const COLUMNS = [
  ["run", (r) => `${r.agent ?? ""} ${r.memory ?? ""} ${r.name}`.toLowerCase(), named],
  ["sessions", (r) => r.n_units ?? null, (r) => (r.n_units === undefined ? "–" : r.n_done === r.n_units ? count(r.n_units) : `${count(r.n_done)} of ${count(r.n_units)}`), "number"],
  ["quality", (r) => quality(r)?.value ?? null, scored, "", true],
  ["intention", figure("intention_accuracy"), (r) => value(r.figures?.intention_accuracy), "number", true],
  ["p50", figure("scheduled_latency@p50"), (r) => latency(figure("scheduled_latency@p50")(r)), "number"],
  ["p95", figure("scheduled_latency@p95"), (r) => latency(figure("scheduled_latency@p95")(r)), "number"],
  ["false alarms/h", figure("false_alarms_per_hour"), (r) => value(r.figures?.false_alarms_per_hour, 1), "number"],
  ["latency", (r) => r.latency_source ?? "", (r) => (r.latency_source ? [el("span", { class: "badge", title: `clock: ${r.clock}` }, text(r.latency_source, { limit: 40 })), r.latency ? el("span", { class: "why" }, text(r.latency, { limit: 40 })) : ""] : "–")],
  ["errors", (r) => (unknown(r.errors) && unknown(r.unparsed) ? null : (r.errors ?? 0) + (r.unparsed ?? 0)), errors, "number", true],
  ["status", (r) => r.status, (r) => el("span", {}, STATES[r.status] ?? plain(r.status))],
  ["played", (r) => r.written ?? "", (r) => (r.written ? plain(r.written.slice(0, 16).replace("T", " ")) : "–"), "", true],
];
const LABELS = { quality: "F1_rt / F1 / S_final", intention: "intention acc.", sessions: "units" };
const state = { runs: [], ticked: new Set(), sort: "played", down: true, filter: "", shown: PAGE, at: -1, since: 0 };
try { Object.assign(state, JSON.parse(sessionStorage.getItem("proact-runs") ?? "{}"), { runs: [], ticked: new Set(), shown: PAGE, at: -1, since: 0 }); } catch { /* not kept */ }

function named(run) {
  const title = run.agent ? `${run.agent}${run.memory && run.memory !== "none" ? ` + ${run.memory}` : ""}` : run.name;
  const more = [(run.data ?? []).length ? `on ${run.data.slice(0, 2).join(", ")}${run.data.length > 2 ? " …" : ""}` : "", run.protocol, run.model, run.gate && run.gate !== "standard" ? `gate ${run.gate}` : "", run.agent ? run.name : ""].filter(Boolean).join(" · ");
  return [run.status === "broken" ? el("strong", {}, text(title, { limit: 80 })) : el("a", { href: `/run/${run.id}` }, text(title, { limit: 80 })),
    ...(run.sees_truth ? [" ", el("span", { class: "badge", title: "it is shown the answers" }, "sees the truth")] : []),
    ...(run.gone ? [" ", el("span", { class: "badge", title: "its sweep's study has it no more: it is in none of its tables" }, "left out")] : []),
    ...(run.invalid?.length ? [" ", el("span", { class: "badge bad" }, "INVALID")] : []),
    el("span", { class: "why" }, text(more, { limit: 120 })),
    run.why ? el("span", { class: "why" }, "⚠ ", text(run.why, { limit: 160 })) : ""];
}

function value(told, digits = 2) {
  return told?.value === null || told?.value === undefined ? "–" : `${fixed(told.value, digits)}${told.few ? " few" : ""}`;
}

function scored(run) {
  const told = quality(run);
  if (!told) return "–";
  const name = run.figures.F1_rt ? "" : run.figures.S_final ? "S_final " : "F1 ";
  const scale = told.unit === "%" || told.value > 1 ? 100 : 1, digits = scale === 100 ? 1 : 2;
  if (told.value === null) return el("span", { title: plain(told.why ?? "") }, `${name}–`);
  const has = told.low !== null && told.high !== null, share = (x) => `${Math.min(100, Math.max(0, (x / scale) * 100))}%`;
  return [el("strong", {}, `${name}${fixed(told.value, digits)}`), told.few ? " few" : "",
    has ? el("span", { class: "interval" }, ` [${fixed(told.low, digits)}, ${fixed(told.high, digits)}]`) : "",
    el("span", { class: "ix-bar", "aria-hidden": "true" }, has ? el("i", { style: { left: share(told.low), right: `${100 - Number.parseFloat(share(told.high))}%` } }) : "", el("b", { style: { left: `calc(${share(told.value)} - 1px)` } }))];
}

function errors(run) {
  if (unknown(run.errors) && unknown(run.unparsed) && !run.n_failed_units) return "–";
  const parts = [run.errors ? `${count(run.errors)} failed` : "", run.unparsed ? `${count(run.unparsed)} unread` : "", run.n_failed_units ? `${counted(run.n_failed_units, "unit")}` : ""].filter(Boolean);
  return parts.length ? el("span", { class: "bad" }, `▲ ${parts.join(", ")}`) : "0";
}

// ---------------------------------------------------------------- the table

function chosen() {
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  const found = state.runs.filter((run) => words.every((word) => run.hay.includes(word)));
  const [, by] = COLUMNS.find(([name]) => name === state.sort) ?? COLUMNS[0];
  const way = state.down ? -1 : 1;
  return found.map((run) => [by(run), run]).sort(([a, x], [b, y]) => {
    if (unknown(a) || unknown(b)) return unknown(a) - unknown(b) || (x.id < y.id ? -1 : 1);  // unknown comes last, whichever way
    return (a < b ? -way : a > b ? way : 0) || (x.id < y.id ? -1 : 1);
  }).map(([, run]) => run);
}

function heads() {
  put(byId("heads"), el("th", { scope: "col" }, el("span", { class: "unseen" }, "Compare")), COLUMNS.map(([name, , , kind]) =>
    el("th", { scope: "col", class: kind, "aria-sort": state.sort === name ? (state.down ? "descending" : "ascending") : undefined },
      el("button", { type: "button", on: { click: () => sortBy(name) } }, LABELS[name] ?? name, el("span", { "aria-hidden": "true" }, state.sort === name ? (state.down ? " ▼" : " ▲") : "")))));
  put(byId("sort"), COLUMNS.map(([name]) => el("option", { value: name, selected: name === state.sort }, `by ${LABELS[name] ?? name}`)));
}

function sortBy(name) {
  const first = Boolean(COLUMNS.find(([n]) => n === name)[4]);
  state.down = state.sort === name ? !state.down : first;
  state.sort = name;
  keep();
  heads();
  draw();
  [...byId("heads").querySelectorAll("button")].find((button) => button.textContent.startsWith(LABELS[name] ?? name))?.focus();
}

function keep() {
  try { sessionStorage.setItem("proact-runs", JSON.stringify({ sort: state.sort, down: state.down, filter: state.filter })); } catch { /* not kept */ }
}

const drawn = new Map();  // id -> { v, row }
function draw() {
  const found = chosen(), rows = [];
  for (const run of found.slice(0, state.shown)) {
    let one = drawn.get(run.id);
    if (one?.v !== run.v) drawn.set(run.id, one = { v: run.v, row: rowOf(run) });
    one.row.classList.toggle("now", rows.length === state.at);
    one.row.querySelector("input").checked = state.ticked.has(run.id);
    rows.push(one.row);
  }
  const body = byId("rows"), focused = document.activeElement;
  if (rows.length) { if (rows.length !== body.children.length || rows.some((row, i) => body.children[i] !== row)) body.replaceChildren(...rows); }
  else put(body, el("tr", {}, el("td", { colspan: COLUMNS.length + 1 }, state.runs.length ? "No run fits the filter." : state.unread ? "Reading…" : "No run lies here yet: `proact run SCENARIO --agent NAME` makes one.")));
  if (focused?.isConnected && focused !== document.activeElement) focused.focus();
  byId("more").hidden = found.length <= state.shown;
  byId("more").textContent = `Show more (${count(found.length - state.shown)})`;
  const said = `${count(found.length)}${found.length < state.runs.length ? ` of ${count(state.runs.length)}` : ""} ${found.length === 1 && state.runs.length === 1 ? "run" : "runs"}${state.unread ? `, ${count(state.unread)} still being read` : ""}`;
  if (byId("counted").textContent !== said) byId("counted").textContent = said;
  const n = state.ticked.size;
  byId("compare").disabled = n < 2;
  byId("compare").textContent = n ? `Compare ${n}` : "Compare";
  byId("clear").hidden = !n;
}

function rowOf(run) {
  const box = el("input", { type: "checkbox", "aria-label": `compare ${plain(run.agent ?? "")} ${plain(run.memory ?? "")} ${plain(run.name)}`, disabled: run.status === "broken", on: { change: (event) => tick(run.id, event.target.checked) } });
  return el("tr", { "data-id": run.id }, el("td", {}, box), COLUMNS.map(([name, , cell, kind], i) => el(i ? "td" : "th", { class: i ? kind || name.replaceAll(/\W/g, "-") : "name", scope: i ? undefined : "row" }, cell(run))));
}

function tick(id, on) {
  if (on) state.ticked.add(id); else state.ticked.delete(id);
  draw();
}

function compare() {
  if (state.ticked.size >= 2) location.href = `/compare?runs=${[...state.ticked].join(",")}`;
}

// ---------------------------------------------------------------- reading

const known = new Map();  // rows by id
let reading = false, again = false, anew = false;
async function read() {
  if (reading) { again = true; return; }
  reading = true;
  try {
    do {
      again = false;
      if (anew) { state.since = 0; anew = false; }  // another server, whose numbers may be lower
      const { ids, rows, unread } = await ask(`/api/runs?since=${state.since}`);
      state.unread = unread;
      for (const run of rows) {
        state.since = Math.max(state.since, run.v);
        known.set(run.id, Object.assign(run, { hay: [run.name, run.lies_in, run.agent, run.memory, run.protocol, run.model, run.status, run.latency_source, run.policy, run.latency, ...(run.data ?? []), run.why].join(" ").toLowerCase() }));
      }
      const there = new Set(ids);
      for (const id of known.keys()) if (!there.has(id)) { known.delete(id); state.ticked.delete(id); drawn.delete(id); }
      state.runs = [...known.values()];
      put(byId("problem"));
      draw();
      if (unread) { again = true; await new Promise((go) => setTimeout(go, 20)); }
    } while (again);
  } catch (error) { failed(byId("problem"), error); } finally { reading = false; }
}

byId("filter").value = state.filter;
byId("filter").addEventListener("input", (event) => { state.filter = event.target.value; state.shown = PAGE; state.at = -1; keep(); draw(); });
byId("find").addEventListener("submit", (event) => { event.preventDefault(); byId("box").focus(); });
byId("sort").addEventListener("change", (event) => { state.sort = ""; sortBy(event.target.value); byId("sort").focus(); });
byId("compare").addEventListener("click", compare);
byId("clear").addEventListener("click", () => { state.ticked.clear(); draw(); byId("compare").blur(); });
byId("more").addEventListener("click", () => { state.shown += PAGE * 2; draw(); });

function go(by) {
  const rows = byId("rows").children;
  state.at = Math.min(Math.max(state.at + by, 0), rows.length - 1);
  draw();
  rows[state.at]?.scrollIntoView({ block: "nearest" });
  byId("said").textContent = rows[state.at]?.querySelector("th")?.textContent.slice(0, 200) ?? "";
}
const here = () => byId("rows").children[state.at]?.dataset.id;
key("/", "filter", () => { byId("filter").focus(); byId("filter").select(); });
key("j", "next run", () => go(1));
key("k", "run before", () => go(-1));
key("x", "tick the run", () => { const id = here(); if (id) tick(id, !state.ticked.has(id)); });
key("Enter", "open the run", () => { const id = here(); if (id && state.runs.find((run) => run.id === id)?.status !== "broken") location.href = `/run/${id}`; });
key("c", "compare the ticked ones", compare);

heads();
read();
listen({ runs: read }, { reset: () => { anew = true; read(); } });
