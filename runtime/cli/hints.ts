import type { ErrorCode } from "../api/platform-error.ts";

/** The one command that helps after a gateway's refusal, by its code; others have none. */
const hints: Partial<Record<ErrorCode, (address: string) => string>> = {
  credentials_required: (address) => `weir login ${address}`,
  credentials_invalid: (address) => `weir login ${address}`,
  forbidden: () => "weir whoami",
  function_not_found: () => "weir list",
  namespace_not_found: () => "weir namespaces list",
  secret_not_found: () => "weir secrets list",
  queue_not_found: () => "weir queues list",
  namespace_exists: () => "weir namespaces list",
  call_not_finished: () => "weir calls wait <id>",
  queue_unavailable: () => "weir doctor",
  history_unavailable: () => "weir doctor",
  provider_unavailable: () => "weir doctor",
};

/** See above; `code` is `code` of the problem details, or empty. */
export function hintFor(code: string, address: string): string | undefined {
  return Object.hasOwn(hints, code) ? hints[code as ErrorCode]?.(address) : undefined;
}
