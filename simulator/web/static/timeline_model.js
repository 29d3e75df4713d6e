// What the timeline knows: one recording, some runs of it, and how to move through them. Classes come from the scorer.

// The last place in ascending numbers whose value is at most x; -1 if there is none.
export function lastAt(ascending, x) {
  let low = 0, high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle] <= x + 1e-9) low = middle + 1; else high = middle;
  }
  return low - 1;
}

const FAILED = new Set(["error", "unparsed"]);

// One run's unit, with columns ready to draw.
export class Lanes {
  constructor(data, letter) {
    this.data = data;
    this.letter = letter;
    this.id = data.id;
    const d = data.decisions;
    for (const name of ["captured_s", "released_s", "started_s", "actionable_s"]) this[name] = Float64Array.from(d[name]);
    this.n = d.seq.length;
    // Decisions are in order of start; which is the order of capture but for a final question and for overlaps.
    this.byCapture = Int32Array.from(d.seq.keys()).sort((a, b) => this.captured_s[a] - this.captured_s[b] || a - b);
    this.captures = Float64Array.from(this.byCapture, (row) => this.captured_s[row]);
    this.total = Float64Array.from(this.actionable_s, (t, row) => t - this.released_s[row]);
    this.rowOf = new Map(d.seq.map((seq, row) => [seq, row]));
    this.stages = new Map();  // row -> [[name, seconds]]
    this.stageNames = Object.keys(data.stages);
    for (const [name, column] of Object.entries(data.stages)) {
      column.row.forEach((row, i) => {
        if (!this.stages.has(row)) this.stages.set(row, []);
        this.stages.get(row).push([name, column.s[i]]);
      });
    }
    this.offersOf = new Map();
    for (const offer of data.offers) {
      if (!this.offersOf.has(offer.seq)) this.offersOf.set(offer.seq, []);
      this.offersOf.get(offer.seq).push(offer);
    }
    this.threads = data.threads.map((one) => ({ ...one }));
    const free = [];  // when each row of the lane is free again
    for (const one of this.threads) {
      const row = free.findIndex((until) => until <= one.from_s);
      one.row = row < 0 ? free.length : row;
      free[one.row] = one.to_s ?? Infinity;
    }
    this.threadRows = free.length;
    // Rows of decisions that failed or could not be read: a third outcome, and an error too.
    this.failures = this.byCapture.filter((row) => FAILED.has(d.kinds[d.kind[row]]));
    this.missed = data.needs.filter((need) => need.error);
    this.needOf = new Map(data.needs.map((need) => [need.id, need]));
  }

  get name() {
    const h = this.data.header;
    return `${h.agent}${h.memory && h.memory !== "none" ? ` + ${h.memory}` : ""}`;
  }

  // The newest decision whose snapshot was captured by t; null before the first.
  rowAt(t) {
    const place = lastAt(this.captures, t);
    return place < 0 ? null : this.byCapture[place];
  }

  // What took the time from release to answer: waiting, the reported stages, and the rest.
  parts(row) {
    const wait = this.started_s[row] - this.released_s[row];
    const stages = this.stages.get(row) ?? [];
    const told = stages.reduce((sum, [, s]) => sum + s, 0);
    const rest = this.actionable_s[row] - this.started_s[row] - told;
    return [["wait", Math.max(0, wait)], ...stages, [stages.length ? "rest" : "deciding", Math.max(0, rest)]];
  }
}

// The session: its recording if there is one, and the instants that keys jump to.
export class Session {
  constructor(recording, runs) {
    this.recording = recording?.there ? recording : null;
    this.use(runs);
  }

  use(runs) {
    this.runs = runs;
    const first = runs[0].data;
    this.period = first.period_s || 1;
    const last = this.recording?.t_s.at(-1) ?? 0;
    this.end = Math.max(first.end_s, first.played_s, last + (this.recording ? this.period : 0), this.period);
    for (const answer of runs.flatMap((run) => run.data.answers ?? [])) {  // said while a live page still took answers: at the right edge
      answer.said_s ??= answer.t_s;
      answer.t_s = Math.min(answer.said_s, this.end);
    }
    this.truth = first.truth;
    // Without a recording the snapshots that decisions saw are all that is known of them.
    this.times = this.recording ? this.recording.t_s : [...new Set(runs.flatMap((run) => Array.from(run.captures)))].sort((a, b) => a - b);
    this.gaps = this.recording?.gaps ?? this.truth.gaps;
    const at = (list, of) => [...new Set(list.map(of))].sort((a, b) => a - b);
    this.spanStarts = (this.recording?.spans ?? []).map((s) => s[0]);
    this.bounds = this.recording ? at(this.recording.spans.filter((s, i, all) => !i || s[2] !== all[i - 1][2]), (s) => s[0]) : [];
    this.assists = at(runs.flatMap((run) => run.data.offers), (offer) => offer.captured_s);
    this.needs = at([...this.truth.needs.map((n) => this.shownAt(n)), ...runs.flatMap((run) => run.data.moments.map((m) => m.t_s))], (t) => t);
    this.errors = at([
      ...runs.flatMap((run) => run.data.offers.filter((o) => o.error).map((o) => o.captured_s)),
      ...runs.flatMap((run) => run.missed.map((need) => this.shownAt(need))),
      ...runs.flatMap((run) => Array.from(run.failures, (row) => run.captured_s[row])),
      ...runs.flatMap((run) => run.data.moments.filter((m) => m.error).map((m) => m.t_s)),
    ], (t) => t);
  }

  // Place of the snapshot that was on the screen at t.
  shotAt(t) { return Math.max(0, lastAt(this.times, t)); }

  // Where to look for a need: the first snapshot that shows it. Windows are rounded, and open just before that one.
  shownAt(need) {
    const first = this.times[lastAt(this.times, need.opens_s - 2e-9) + 1];
    return first !== undefined && first < need.closes_s ? first : need.opens_s;
  }

  spanAt(t) {
    const spans = this.recording?.spans ?? [];
    const place = lastAt(this.spanStarts, t);
    return place < 0 || t >= spans[place][1] + 1e-9 ? null : spans[place];
  }

  gapAt(t) { return this.gaps.find(([from, to]) => from <= t && t < to) ?? null; }

  openNeeds(t) { return this.truth.needs.filter((need) => need.opens_s <= t && t < need.closes_s); }

  // The next of ascending instants after t (direction 1) or before it (-1); null if there is none.
  static next(ascending, t, direction) {
    if (direction > 0) return ascending[lastAt(ascending, t) + 1] ?? null;
    const place = lastAt(ascending, t);
    const here = place >= 0 && Math.abs(ascending[place] - t) < 1e-6;
    return ascending[here ? place - 1 : place] ?? null;
  }
}
