import { useSignal, useSignalEffect, type ReadonlySignal } from "@preact/signals";

import type { FunctionStatus } from "../../../api/schemas/function-status.ts";
import type { FunctionEvent } from "../../../api/schemas/watch/watch-topics.ts";
import { useConsole } from "../../data/console-context.ts";
import { functionKeyOf, type FunctionOfPage } from "../../data/functions/function-of-page.ts";
import type { RequestFailure } from "../../data/requests/request-failure.ts";
import { useLoaded } from "../../data/requests/use-loaded.ts";
import { useTopic } from "../../data/stream/use-topic.ts";

/** One function, live. */
export interface FollowedFunction {
  /** null = there is none (any more); undefined = not known yet. */
  readonly status: ReadonlySignal<FunctionStatus | null | undefined>;
  readonly failure: ReadonlySignal<RequestFailure | undefined>;
  /** When it was asked for. */
  readonly since: ReadonlySignal<number | undefined>;
  readonly reload: () => void;
}

/** Reads a function and follows it. */
export function useFunctionStatus(named: FunctionOfPage): FollowedFunction {
  const { requests, session } = useConsole();
  const { name, namespace } = named;
  const status = useSignal<FunctionStatus | null | undefined>(undefined);
  const failure = useSignal<RequestFailure | undefined>(undefined);
  const since = useSignal<number | undefined>(undefined);
  const read = (signal: AbortSignal): Promise<FunctionStatus> =>
    requests.get(`/system/function/${encodeURIComponent(name)}`, {
      query: { namespace },
      signal,
      act: `show ${functionKeyOf(named)}`,
    });
  const loaded = useLoaded(functionKeyOf(named), read);
  useSignalEffect(() => {
    const state = loaded.state.value;
    const isGone = state.failure?.code === "function_not_found" || state.failure?.code === "namespace_not_found";
    since.value = state.since;
    failure.value = isGone ? undefined : state.failure;
    if (isGone) status.value = null;
    else if (state.value !== undefined) status.value = state.value;
  });
  useTopic(session.may("Function:Get") ? `function:${namespace}:${name}` : undefined, {
    event: (_name, data) => void (status.value = (data as FunctionEvent).status),
    poll: async (signal) => {
      status.value = await read(signal);
    },
  });
  return { status, failure, since, reload: loaded.reload };
}
