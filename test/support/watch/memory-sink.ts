import { EventEmitter } from "node:events";

import type { WatchEvents } from "../../../runtime/api/schemas/watch-events.ts";
import type { EventSink } from "../../../runtime/gateway/watch/watch-reader.ts";

/** An event, or a comment without a name. */
export interface SentEvent {
  readonly name: string | undefined;
  readonly data: unknown;
}

/** What a stream writes to, with a client that reads as a test wants. */
export class MemorySink extends EventEmitter implements EventSink {
  readonly texts: string[] = [];
  /** Whether the client reads what is sent. */
  isRead = true;
  writableLength = 0;
  writableEnded = false;
  closed = false;

  write(text: unknown): boolean {
    if (this.writableEnded) throw new Error("it was ended");
    this.texts.push(String(text));
    if (!this.isRead) this.writableLength += Buffer.byteLength(String(text));
    return this.writableLength === 0;
  }

  end(): this {
    this.writableEnded = true;
    if (this.isRead) this.close();
    return this;
  }

  /** The client reads what it has left unread. */
  drain(): void {
    this.writableLength = 0;
    this.emit("drain");
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.emit("close");
  }

  /** All that was sent since the last look. */
  take(): SentEvent[] {
    return this.texts
      .splice(0)
      .join("")
      .split("\n\n")
      .filter((block) => block !== "")
      .map(parseBlock);
  }

  /** Data of the events of a name that were sent since the last look; others are dropped. */
  takeOf<Name extends keyof WatchEvents>(name: Name): WatchEvents[Name][] {
    return this.take().flatMap((event) => (event.name === name ? [event.data as WatchEvents[Name]] : []));
  }
}

/** A block of a stream, without the empty line at its end. */
export function parseBlock(block: string): SentEvent {
  if (block === ":") return { name: undefined, data: undefined };
  const [, name, data] = /^event: ([a-z]+)\ndata: ([^\n]*)$/.exec(block) ?? [];
  if (name === undefined || data === undefined) throw new Error(`this is no event: ${JSON.stringify(block)}`);
  return { name, data: JSON.parse(data) };
}
