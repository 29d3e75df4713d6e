// The timeline's session and drawing, with windows that somebody marks in the place of a run's needs.
import { clock } from "/static/base.js";
import { Drawing, KINDS } from "/static/timeline_draw.js";
import { needs } from "/static/timeline_lanes.js";
import { Session } from "/static/timeline_model.js";

export const EDGE = 7;  // pixels around an edge that take hold of it

export class Marked extends Session {
  constructor(recording) {
    super(recording, []);
  }

  use() {
    const r = this.recording;
    this.runs = [];
    this.marking = true;
    this.offered ??= null;
    this.period = r.period_s || 1;
    this.end = Math.max(r.end_s, this.period);
    this.truth = { needs: [], gaps: r.gaps };
    this.times = r.t_s;
    this.gaps = r.gaps;
    this.spanStarts = r.spans.map((s) => s[0]);
    this.bounds = [...new Set(r.spans.filter((s, i, all) => !i || s[2] !== all[i - 1][2]).map((s) => s[0]))].sort((a, b) => a - b);
    this.assists = this.errors = this.needs = [];
  }

  windows(list) {
    this.truth.needs = list.map((one, i) => ({ ...one, id: i + 1, window: one.id, intention: one.intention ?? "no intention yet", unservable: one.problem }));
    this.needs = [...new Set(list.map((one) => one.opens_s))].sort((a, b) => a - b);
  }
}

export class Marking extends Drawing {
  constructor(base, over) {
    super(base, over);
    this.kinds = { ...KINDS, needs: windows, offered };
  }

  arrange(session, narrow) {
    super.arrange(session, narrow);
    if (!session.offered) return;
    this.lanes.push({ kind: "offered", y: this.height, top: this.height, height: 22, inner: 22, label: "agents' offers" });
    this.height += 22;
    this.size();
  }

  // What of a window is at a place: { window, edge: opens | closes | null }, null for nothing.
  held(x, y) {
    const lane = this.laneAt(y);
    if (lane?.kind !== "needs") return null;
    const all = [...this.session.truth.needs].sort((a, b) => (b.window === this.session.selected) - (a.window === this.session.selected));
    for (const one of all) {
      const d = [["opens", Math.abs(this.x(one.opens_s) - x)], ["closes", Math.abs(this.x(one.closes_s) - x)]].sort((a, b) => a[1] - b[1])[0];
      if (d[1] <= EDGE) return { window: one.window, edge: d[0] };
    }
    const within = all.find((one) => this.x(one.opens_s) <= x && x <= this.x(one.closes_s));
    return within ? { window: within.window, edge: null } : null;
  }

  offerAt(x, y) {
    if (this.laneAt(y)?.kind !== "offered") return null;
    return this.session.offered.filter((one) => Math.abs(this.x(one.t_s) - x) <= 6).at(-1) ?? null;
  }
}

export const spoken = (one) => `${one.intention ?? "no intention yet"}, ${clock(one.opens_s, 1)} to ${clock(one.closes_s, 1)}`;

function windows(d, lane) {
  needs(d, lane);
  const one = d.session.truth.needs.find((need) => need.window === d.session.selected);
  if (!one) return;
  const left = d.x(one.opens_s), right = d.x(one.closes_s);
  d.g.strokeStyle = d.colours["--focus"];
  d.g.lineWidth = 3;
  d.g.strokeRect(left, lane.top + 2, Math.max(3, right - left), lane.inner - 4);
  d.g.fillStyle = d.colours["--focus"];
  for (const x of [left, right]) d.g.fillRect(x - 3, lane.top + lane.inner / 2 - 7, 6, 14);  // where to take hold
}

function offered(d, lane) {
  const g = d.g;
  g.fillStyle = d.colours["--ink"];
  for (const { t_s: t } of d.session.offered) {
    const x = d.x(t), y = lane.top + 11;
    if (x < -6 || x > d.width + 6) continue;
    g.beginPath(); g.moveTo(x + 5, y); g.lineTo(x - 4, y - 5); g.lineTo(x - 4, y + 5); g.fill();
  }
}
