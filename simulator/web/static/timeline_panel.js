// The panel beside the frame: what the log and the scorer say of one decision.
import { ask, beginning, clock, colour, count, el, failed, fixed, ms, plain, put, text } from "/static/base.js";
import { MARKS, needMark, stageColour, swatch } from "/static/timeline_marks.js";

export const TABS = ["Decision", "Prompt", "Memory", "Stages", "JSON"];
const KINDS = {
  silent: "It was silent.", offer: "It offered help.", error: "It failed: a third outcome, neither right nor silent.",
  unparsed: "Its answer could not be read.", superseded: "A newer decision overtook it: nothing was delivered.",
  cancelled: "It was stopped by a newer snapshot.",
};

export class Panel {
  constructor(tabs, panel) {
    this.panel = panel;
    this.chosen = "Decision";
    this.kept = new Map();  // address -> what the server said
    this.buttons = TABS.map((name, i) => el("button", {
      type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "panel", "aria-selected": String(name === this.chosen),
      tabindex: name === this.chosen ? 0 : -1, on: { click: () => this.choose(i), keydown: (event) => this.keyed(event, i) },
    }, name));
    put(tabs, this.buttons);
    panel.setAttribute("aria-labelledby", "tab-Decision");
  }

  keyed(event, i) {
    const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (to === undefined || event.altKey || event.shiftKey || event.ctrlKey) return;
    event.preventDefault();
    this.choose((to + TABS.length) % TABS.length);
    this.buttons[TABS.indexOf(this.chosen)].focus();
  }

  choose(i) {
    this.chosen = TABS[i];
    this.buttons.forEach((button, n) => {
      button.setAttribute("aria-selected", String(n === i));
      button.tabIndex = n === i ? 0 : -1;
    });
    this.panel.setAttribute("aria-labelledby", `tab-${this.chosen}`);
    this.fill();
  }

  // Show what a run decided about the snapshot at t. The record is asked for once the cursor rests.
  show(session, run, t, rest = 70) {
    const row = run.rowAt(t), shot = session.shotAt(t);
    if (rest && this.run === run && this.row === row && this.shot === shot) return;  // it shows that already
    Object.assign(this, { session, run, t, row, shot });
    clearTimeout(this.timer);
    if (this.row === null) return this.fill();
    const seq = run.data.decisions.seq[this.row];
    this.address = `/api/run/${run.id}/unit/${encodeURIComponent(run.data.unit)}/decision/${seq}`;
    if (this.kept.has(this.address)) return this.fill();
    this.fill();
    const address = this.address;
    this.timer = setTimeout(async () => {
      try {
        this.kept.set(address, await ask(address));
        if (this.kept.size > 500) this.kept.delete(this.kept.keys().next().value);
        if (this.address === address) this.fill();
      } catch (error) {
        if (this.address === address) failed(this.panel, error);
      }
    }, rest);
  }

  forget() { this.kept.clear(); }

  fill() {
    if (!this.run) return;
    const needs = this.needs();
    if (this.row === null) return put(this.panel, el("p", {}, "No decision yet: nothing before this was seen."), needs);
    const told = this.kept.get(this.address) ?? null;
    put(this.panel, this[this.chosen.toLowerCase()](told, needs));
  }

  // Stamps that the columns hold, whatever was asked for.
  get stamps() {
    const d = this.run.data.decisions, row = this.row;
    return { seq: d.seq[row], kind: d.kinds[d.kind[row]], captured: d.captured_s[row], released: d.released_s[row], started: d.started_s[row], arrived: d.actionable_s[row], dropped: d.dropped[row], flags: d.flags[row] };
  }

  decision(told, needs) {
    const at = this.stamps, parts = [el("h3", {}, `Decision ${at.seq}: ${at.kind}`)];
    const shot = this.session.times[this.session.shotAt(this.t)];
    if (shot - at.captured > this.session.period / 2) {
      parts.push(el("p", { class: "notice" }, at.arrived > shot
        ? `No decision saw the snapshot at ${clock(shot, 1)}: the agent was busy with this one until ${clock(at.arrived, 1)}.`
        : `No decision saw the snapshot at ${clock(shot, 1)}; this is the newest one before it.`));
    }
    parts.push(el("p", {}, KINDS[at.kind] ?? ""));
    parts.push(el("p", {}, `Captured ${clock(at.captured, 3)}, arrived ${clock(at.arrived, 3)}: ${precise(at.arrived - at.released)} from release to answer.`,
      at.dropped ? ` ${count(at.dropped)} ${at.dropped === 1 ? "snapshot was" : "snapshots were"} never seen before it.` : ""));
    if (at.flags) parts.push(el("p", {}, [at.flags & 1 && "Nothing had changed on the screen (held).", at.flags & 2 && "First decision, cold.", at.flags & 4 && "It ended after the session: it counts as too late."].filter(Boolean).join(" ")));
    for (const offer of this.run.offersOf.get(at.seq) ?? []) {
      const why = told?.why.find((one) => one.id === offer.id);
      const whole = told?.record.offers?.find((one) => one.intention === offer.intention && one.text?.startsWith(beginning(offer.text)));
      parts.push(el("h3", {}, swatch(offer.mark), " ", offer.class ? `Offer: ${offer.class.replaceAll("_", " ")}` : "Offer"),
        el("p", {}, text(offer.intention, { limit: 120 }), offer.confidence === null ? "" : ` (confidence ${fixed(offer.confidence)})`),
        el("p", {}, text(whole?.text ?? offer.text, { limit: 400 })),
        why ? el("p", {}, text(why.why.join(" "), { limit: 1200 })) : "",
        (this.run.data.answers ?? []).filter((one) => one.seq === at.seq && (one.intention === null || one.intention === offer.intention)).map((one) =>
          el("p", {}, swatch(one.said), ` ${MARKS[one.said].says}`, one.by ? [", by ", text(one.by, { limit: 60 })] : "", one.dated ? `, at ${clock(one.said_s, 1)}${one.said_s > one.t_s ? ", after the end" : ""}` : "")));
    }
    const moment = this.run.data.moments.find((m) => m.seq === at.seq);
    if (moment) parts.push(...this.scored(moment, moment.class));
    if (told?.record.error) parts.push(el("p", {}, "Error: ", text(`${told.record.error.kind}: ${told.record.error.text}`)));
    return [...parts, ...needs];
  }

  scored(one, mark) {
    return [el("h3", {}, mark in MARKS ? [swatch(mark), " "] : "", `${one.what} ${one.id.startsWith(one.what) ? "" : plain(one.id)}: `, one.class.replaceAll("_", " ")),
      el("p", {}, text(one.title, { limit: 300 })), el("p", {}, text(one.why.join(" "), { limit: 1200 }))];
  }

  // The needs that are open now, and how this run did by them.
  needs() {
    return this.session.openNeeds(this.t).flatMap((need) => {
      const told = this.run.needOf.get(need.id);
      return told ? this.scored(told, needMark(told))
        : [el("h3", {}, "Need ", text(need.id)), el("p", {}, text(need.intention), " ", text(need.query ?? ""))];
    });
  }

  prompt(told) {
    const h = this.run.data.header, record = told?.record ?? {};
    const rows = [["agent", h.agent], ["model", nameOf(h.model)], ["tokens", tokens(record.tokens)], ["read by rule", record.parse_rule],
      ["retries", record.retries], ["throttled", record.throttle_ns ? ms(record.throttle_ns / 1e6) : null], ["cost", record.cost]];
    return [el("p", {}, "A run log keeps no prompt: it would hold the screen's texts. What shaped it:"), facts(rows),
      h.strategy ? [el("h3", {}, "Strategy"), el("pre", {}, JSON.stringify(h.strategy, null, 1))] : el("p", {}, "This agent asks no model, or says nothing of how."),
      el("p", { class: "quiet-text" }, "The hash of the prompts in the strategy tells whether two runs asked in the same words.")];
  }

  memory(told) {
    const h = this.run.data.header, record = told?.record ?? {}, writes = this.run.data.writes;
    const before = writes.filter((w) => w.started_s <= this.t).slice(-8).reverse();
    return [facts([["memory", h.memory], ["mode", h.memory_mode], ["recalled for this decision", record.memory_hits === undefined ? (told ? "nothing, or it does not say" : "…") : `${count(record.memory_hits)} items`], ["notes", record.notes ? JSON.stringify(record.notes) : null]]),
      el("h3", {}, `Latest writes of ${count(writes.length)}`),
      before.length ? el("table", {}, el("thead", {}, el("tr", {}, ["at", "what", "event", "took"].map((w) => el("th", { scope: "col" }, w)))),
        el("tbody", {}, before.map((w) => el("tr", {}, el("td", {}, clock(w.started_s, 1)), el("td", {}, w.what), el("td", {}, text(w.event, { limit: 60 })), el("td", {}, w.error ? `failed: ${plain(w.error)}` : ms((w.done_s - w.started_s) * 1000))))))
        : el("p", {}, "Nothing was written yet."),
      el("p", { class: "quiet-text" }, "A log keeps how many items were recalled, not their words; `proact memory explain` recalls anew.")];
  }

  stages() {
    const at = this.stamps, parts = this.run.parts(this.row), all = at.arrived - at.released, budget = this.session.period;
    const rows = parts.map(([name, s]) => {
      const bar = el("span", { class: "tl-bar", style: { width: `${all > 0 ? (s / all) * 8 : 0}rem`, background: colour(stageColour(name)) } });
      return el("tr", {}, el("th", { scope: "row" }, plain(name)), el("td", { class: "number" }, precise(s)), el("td", {}, bar));
    });
    return [el("table", {}, el("caption", { class: "unseen" }, "Where the time went"), el("tbody", {}, rows,
      el("tr", {}, el("th", { scope: "row" }, "from release to answer"), el("td", { class: "number" }, precise(all)), el("td", {}, all > budget ? `over the budget of ${budget} s` : `within the budget of ${budget} s`)))),
      el("p", {}, `Released ${precise(at.released - at.captured)} after capture.`)];
  }

  json(told) { return el("pre", {}, told ? JSON.stringify(told.record, null, 1) + (told.folded ? "\n\nA plain silence: the log folds many into one record of columns." : "") : "…"); }
}

const precise = (s) => (s < 0.01 ? `${fixed(s * 1000, s < 0.001 ? 3 : 1)} ms` : ms(s * 1000));
const facts = (rows) => el("table", {}, el("tbody", {}, rows.filter(([, value]) => value !== null && value !== undefined && value !== "")
  .map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, text(value))))));
const nameOf = (model) => (model === null || model === undefined ? null : typeof model === "object" ? model.name ?? model.model ?? JSON.stringify(model) : model);
const tokens = (used) => (used && typeof used === "object" ? Object.entries(used).map(([name, n]) => `${n} ${name}`).join(", ") : used);
