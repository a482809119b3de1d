import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { alignColumns } from "../align-columns.ts";
import { spreadOf } from "../interleave.ts";

/** Milliseconds of each phase of one start; a phase that a side does not have is absent. */
export interface Pieces {
  /** Until the first request to the engine. */
  readonly before?: number;
  readonly create?: number;
  readonly start?: number;
  /** `create` and `start` by one command. */
  readonly run?: number;
  /** Until the container's address is known. */
  readonly address: number;
  /** From then until something listens there. */
  readonly connect: number;
  /** From then until its readiness probe succeeds. */
  readonly ready: number;
  readonly whole: number;
}

const rows: readonly (readonly [name: keyof Pieces, what: string])[] = [
  ["before", "before the engine is asked"],
  ["create", "create"],
  ["start", "start"],
  ["run", "docker run"],
  ["address", "address known"],
  ["connect", "first connect"],
  ["ready", "ready"],
  ["whole", "whole"],
];

/** A table of all phases, median (min – max) in milliseconds; one column per side. */
export function formatPieces(sides: Readonly<Record<string, readonly Pieces[]>>): string {
  const lines = [["milliseconds", ...Object.keys(sides)]];
  for (const [name, what] of rows) {
    const cells = Object.values(sides).map((starts) => spreadText(starts.flatMap((pieces) => pieces[name] ?? [])));
    if (cells.some((cell) => cell !== "")) lines.push([what, ...cells]);
  }
  return alignColumns(lines);
}

function spreadText(times: readonly number[]): string {
  if (times.length === 0) return "";
  const { median, min, max } = spreadOf(times);
  return `${format(median)} (${format(min)} – ${format(max)})`;
}

function format(time: number): string {
  return time.toFixed(time < 10 ? 1 : 0);
}

/** Resolves with the time when something listens at `address`; tries once a millisecond. */
export async function connected(address: string): Promise<number> {
  const [host, port] = address.split(":");
  for (;;) {
    const socket = connect({ host: host ?? "", port: Number(port) });
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.on("error", () => resolve(false));
    });
    const now = performance.now();
    socket.destroy();
    if (isOpen) return now;
    await pause(1);
  }
}
