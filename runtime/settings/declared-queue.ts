import { formatDuration, parseDuration } from "../api/duration.ts";
import { isQueueName } from "../api/grammar.ts";

/** A declared queue, without the broker's details. */
export interface DeclaredQueue {
  readonly name: string;
  /** Longest run of its calls in milliseconds. */
  readonly timeout: number;
}

/** `mail=5m`. */
export function formatDeclaredQueue({ name, timeout }: DeclaredQueue): string {
  return `${name}=${formatDuration(timeout)}`;
}

/** The inverse of `formatDeclaredQueue`; undefined for any other text. */
export function parseDeclaredQueue(text: string): DeclaredQueue | undefined {
  const [name = "", duration = "", ...more] = text.split("=");
  const timeout = parseDuration(duration);
  return more.length > 0 || timeout === undefined || !isQueueName(name) ? undefined : { name, timeout };
}
