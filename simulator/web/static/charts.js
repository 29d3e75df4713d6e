// Charts: uPlot with this house's colours, text and keys. uPlot draws on canvas; beside each chart goes a sentence or a
// table that says the same (`describe`), for those who do not see it.
import uPlot from "/static/vendor/uPlot.esm.js";
import { colour, textScale } from "/static/base.js";

export { uPlot };

// Colours of series in order, and their dashes: no series is told by colour alone.
export const series = () => ["--good", "--bad", "--need", "--late", "--busy"].map(colour);
export const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [4, 4]];

// Make a chart in a node; it follows the node's width and the theme. `options` are uPlot's without width; heights, and
// what is 200 unless it is given, are pixels at usual text.
export function chart(node, options, data, { describe = "" } = {}) {
  let plot = null, scale = 1;
  const make = () => {
    plot?.destroy();
    const given = options();
    scale = textScale();
    plot = new uPlot({ cursor: { drag: { x: false, y: false } }, ...given, width: Math.max(120, node.clientWidth), height: (given.height ?? 200) * scale }, data, node);
  };
  node.classList.add("chart");
  if (describe) { node.setAttribute("role", "img"); node.setAttribute("aria-label", describe); }
  make();
  let asked = 0;
  const sized = new ResizeObserver(() => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(() => {
      if (scale !== textScale()) make();
      else if (plot && plot.width !== node.clientWidth) plot.setSize({ width: Math.max(120, node.clientWidth), height: plot.height });
    });
  });
  sized.observe(node);
  addEventListener("themechange", make);
  return {
    get plot() { return plot; },
    set(next) { data = next; plot.setData(next); },
    end() { sized.disconnect(); removeEventListener("themechange", make); plot.destroy(); },
  };
}

// An axis in the page's colours and of the size of its text.
export function axis(more = {}) {
  const k = textScale(), line = { stroke: colour("--line"), width: k };
  return { stroke: colour("--quiet"), grid: line, ticks: { ...line, size: 10 * k }, font: `${12 * k}px system-ui, sans-serif`, size: 50 * k, gap: 5 * k, ...more };
}
