import type { ReplayRequest } from "../../../api/schemas/history/call-request.ts";
import { header } from "../../../api/names.ts";
import type { Requests } from "../../data/requests/requests.ts";

/** A call as far as an act needs to know it. */
export interface ActedCall {
  readonly callId: string;
  readonly queue?: string;
}

const path = encodeURIComponent;

/** No run of it starts afterwards. */
export async function sendCancel(requests: Requests, { callId }: ActedCall): Promise<void> {
  await requests.send("DELETE", `/async-function/${path(callId)}`, { act: `cancel call "${callId}"` });
}

/** Queues its dead letter again, under the same id. */
export async function sendRedrive(requests: Requests, call: ActedCall): Promise<void> {
  const { callId, queue } = call;
  const act = `redrive call "${callId}"`;
  if (queue === undefined) throw new Error(`Cannot ${act}: it was answered at once`);
  await requests.send("POST", `${letterPath(queue, callId)}/redrive`, { act });
}

/** Removes its dead letter. */
export async function deleteLetter(requests: Requests, call: Required<ActedCall>): Promise<void> {
  const { callId, queue } = call;
  await requests.send("DELETE", letterPath(queue, callId), { act: `delete the dead letter of call "${callId}"` });
}

/** Queues it anew; resolves with the id of the new call. */
export async function sendReplay(requests: Requests, { callId }: ActedCall, body: ReplayRequest = {}): Promise<string> {
  const act = `replay call "${callId}"`;
  const response = await requests.send("POST", `${apiPathOfCall(callId)}/replay`, { body, act });
  return response.headers.get(header.callId) ?? "";
}

/** Removes it from the history. */
export async function forgetCall(requests: Requests, { callId }: ActedCall): Promise<void> {
  await requests.send("DELETE", apiPathOfCall(callId), { act: `delete call "${callId}"` });
}

/** Where a call is read. */
export function apiPathOfCall(callId: string): string {
  return `/system/calls/${path(callId)}`;
}

/** Where the dead letters of a queue are read. */
export function lettersPath(queue: string): string {
  return `/system/queue/${path(queue)}/dead-letters`;
}

function letterPath(queue: string, callId: string): string {
  return `${lettersPath(queue)}/${path(callId)}`;
}
