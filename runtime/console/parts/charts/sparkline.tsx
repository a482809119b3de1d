/** A line without axes, for lists: what it shows, the row says in numbers. `null` = not known. */
export function Sparkline({ values, label }: { readonly values: readonly (number | null)[]; readonly label: string }) {
  const width = 96;
  const height = 20;
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={label}
    >
      <path d={linePath(values, width, height)} fill="none" stroke="currentColor" vector-effect="non-scaling-stroke" />
    </svg>
  );
}

/** The path of a line in a box; where values are not known, it has a hole. */
export function linePath(values: readonly (number | null)[], width: number, height: number): string {
  const most = values.reduce<number>((greatest, value) => Math.max(greatest, value ?? 0), 0);
  const step = values.length > 1 ? width / (values.length - 1) : width;
  let path = "";
  let joined = false;
  for (const [index, value] of values.entries()) {
    if (value === null) {
      joined = false;
    } else {
      const y = most === 0 ? height - 1 : height - 1 - (value / most) * (height - 2);
      path += `${joined ? "L" : "M"}${round(index * step)} ${round(y)}`;
      joined = true;
    }
  }
  return path;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
