import { DiscardPolicy } from "@nats-io/jetstream";

import type { WantedStream } from "../streams.ts";

/**
 * The broker drops what exceeds a new limit, and calls must not be dropped.
 * @throws Error when the stream holds more than its new limits allow
 */
export function checkRoom(wanted: WantedStream, state: { readonly bytes: number; readonly messages: number }): void {
  if (wanted.discard !== DiscardPolicy.New) return;
  const { max_bytes: bytes = -1, max_msgs: messages = -1 } = wanted;
  if ((bytes < 0 || state.bytes <= bytes) && (messages < 0 || state.messages <= messages)) return;
  throw new Error(
    `${wanted.name} holds ${state.messages} entries of ${state.bytes} bytes, more than its new limits ` +
      `(${messages} entries, ${bytes} bytes): let its queue run empty first, or give it more room`,
  );
}
