import { keyPrefixes, label } from "../../../../api/names.ts";
import type { FunctionDeployment } from "../../../../api/schemas/function-deployment.ts";

/** Labels that say how a function is scaled, by what they are called here. */
export const boundNames = {
  min: label.scaleMin,
  max: label.scaleMax,
  type: label.scaleType,
  target: label.scaleTarget,
  zero: label.scaleZero,
  zeroDuration: label.scaleZeroDuration,
} as const;
export type BoundName = keyof typeof boundNames;

/** How a function is scaled, as its labels say it; empty = the default. */
export type LabelBounds = Readonly<Record<BoundName, string>>;

type LabelMap = Readonly<Record<string, string>>;

export function boundsOf(labels: LabelMap = {}): LabelBounds {
  const of = (name: BoundName): string => labels[keyOfBound(labels, name)] ?? "";
  return {
    min: of("min"),
    max: of("max"),
    type: of("type"),
    target: of("target"),
    zero: of("zero"),
    zeroDuration: of("zeroDuration"),
  };
}

/** A deployment with other bounds; a label keeps the prefix that it has. */
export function withBounds(deployment: FunctionDeployment, bounds: LabelBounds): FunctionDeployment {
  const labels: Record<string, string> = { ...deployment.labels };
  for (const name of Object.keys(boundNames) as BoundName[]) {
    const key = keyOfBound(labels, name);
    const value = bounds[name].trim();
    if (value === "") delete labels[key];
    else labels[key] = value;
  }
  const { labels: _before, ...rest } = deployment;
  return Object.keys(labels).length === 0 ? rest : { ...rest, labels };
}

/** The key that has a value, else the one of the first prefix. */
function keyOfBound(labels: LabelMap, name: BoundName): string {
  const keys = keyPrefixes.map((prefix) => `${prefix}${boundNames[name]}`);
  return keys.find((key) => labels[key] !== undefined) ?? keys[0] ?? boundNames[name];
}
