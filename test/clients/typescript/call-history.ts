import type { Client } from "openapi-fetch";

import { recordsIn } from "./streams.ts";
import { untilFound } from "./until-found.ts";
import type { components, paths } from "./weir.d.ts";

/** Reads what is known of a queued call that has ended, of the function `called`; replays and deletes it. */
export async function walkHistory(
  client: Client<paths, `application/${string}`>,
  called: string,
  callId: string,
): Promise<void> {
  const ofCall = { params: { path: { callId } } };

  const listed = await untilFound("listed", async () => {
    const { data } = await client.GET("/system/calls", { params: { query: { function: called, state: "done" } } });
    return data?.items.find((item) => item.callId === callId);
  });
  console.log(`the history lists the call as ${listed.state}`);

  // Its request and lines are kept a moment after its end.
  const detail = await untilFound("kept", async () => {
    const { data } = await client.GET("/system/calls/{callId}", ofCall);
    return data?.request.kept === true ? data : undefined;
  });
  console.log(`the call began when it was ${detail.timeline[0]?.kind}`);
  const line = await untilFound("logged", async () => {
    const { data } = await client.GET("/system/calls/{callId}/logs", { ...ofCall, parseAs: "text" });
    return recordsIn<components["schemas"]["CallLogLine"]>(data)[0];
  });
  console.log(`the call wrote ${line.text.trim()}`);
  const { data: request } = await client.GET("/system/calls/{callId}/request", ofCall);
  console.log(`the request was ${request?.method} ${atob(request?.body ?? "")}`);

  const replay = await client.POST("/system/calls/{callId}/replay", { ...ofCall, body: { callback: false } });
  const target = replay.response.headers.get("x-call-id") ?? "";
  const record = await client.GET("/async-function/{target}", { params: { path: { target }, query: { wait: "30s" } } });
  console.log(`the replay is ${record.data?.state}`);
  console.log(`the replay of ${callId} names ${record.data?.replayOf}`);

  await client.DELETE("/system/calls/{callId}", ofCall);
  const deleted = await client.GET("/system/calls/{callId}/request", ofCall);
  console.log(`the request after that: ${deleted.error?.code}`);

  // Figures come every 10 s.
  const counted = await untilFound("counted", async () => {
    const { data } = await client.GET("/system/rollups", { params: { query: { function: called } } });
    return data?.series.find(({ calls }) => calls.some((count) => count !== null && count > 0));
  });
  console.log(`the rollups count calls of ${counted.functionName}`);
}
