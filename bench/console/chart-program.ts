import { fileURLToPath } from "node:url";

import { rolldown } from "rolldown";

/** A chart as large as one may be. */
export const largeChart = { lines: 50, points: 1_000 } as const;

const root = fileURLToPath(new URL("../../", import.meta.url));
const name = "weirChart";

/** A script that makes the console's chart known to a page, whose own scripts name nothing for others. */
export async function chartScript(): Promise<string> {
  const bundle = await rolldown({
    cwd: root,
    input: "runtime/console/parts/charts/draw-chart.ts",
    platform: "browser",
  });
  const { output } = await bundle.generate({ format: "iife", name, minify: true });
  await bundle.close();
  return `(() => {\n${output[0].code}\nglobalThis.${name} = ${name};\n})()`;
}

/**
 * An expression that draws a large chart on a page which has {@link chartScript}, and resolves with the milliseconds from
 * the begin of a frame until it was painted.
 */
export const drawLargeChart = `new Promise((resolve) => {
  const { lines: count, points } = ${JSON.stringify(largeChart)};
  const times = Array.from({ length: points }, (_, index) => 1_760_000_000_000 + index * 10_000);
  const lines = Array.from({ length: count }, (_, line) => ({
    name: "line " + line,
    colour: 1 + (line % 8),
    values: times.map((_, index) =>
      (index + line) % 97 === 0 ? null : 500 + 400 * Math.sin(index / (20 + line)) + Math.random() * 50,
    ),
  }));
  const place = document.createElement("div");
  place.className = "chart-place";
  place.style.width = "1000px";
  place.style.height = "300px";
  document.querySelector("main").prepend(place);
  const stop = new AbortController();
  requestAnimationFrame(() => {
    const begun = performance.now();
    const plan = { place, times, lines, marks: [], words: String, whole: false, height: 300, zone: undefined };
    ${name}.drawChart(plan, stop.signal);
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      const took = performance.now() - begun;
      const isDrawn = place.querySelector("canvas") !== null;
      stop.abort();
      place.remove();
      resolve(isDrawn ? took : NaN);
    };
    port2.postMessage(undefined);
  });
})`;
