import type { WatchTopic } from "../../core/watch/watch-topic.ts";
import type { StreamSender } from "./stream-sender.ts";
import type { EventSink, WatchReader } from "./watch-reader.ts";

/** The streams of a process, of all its listeners together. */
export interface WatchStreams {
  /** Begins a stream of topics, with a fault for each that its sender may not read; it ends with `sink`, or before. */
  open(sink: EventSink, topics: readonly WatchTopic[], sender: StreamSender): WatchReader;
  /** Monotonic milliseconds of their clock. */
  now(): number;
  /** Ends all of them; whoever comes later is sent away. */
  close(): void;
}
