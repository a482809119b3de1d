import type { ErrorCode } from "../../../api/platform-error.ts";
import type { ProblemDetails } from "../../../api/schemas/problem-details.ts";

/** Why a request failed, as the gateway says it; or that it did not reply. */
export type RequestFailureCode = ErrorCode | "gateway_away" | "unexpected_reply";

/** A request that failed: a code for the page, a sentence for people. */
export class RequestFailure extends Error {
  override readonly name = "RequestFailure";
  readonly code: RequestFailureCode;
  /** 0 = there was no reply. */
  readonly status: number;
  /** When the gateway wants to be asked again, seconds. */
  readonly retryAfterSeconds: number | undefined;
  readonly callId: string | undefined;

  constructor(
    code: RequestFailureCode,
    sentence: string,
    facts: {
      readonly status?: number;
      readonly retryAfterSeconds?: number | undefined;
      readonly callId?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(sentence, facts.cause === undefined ? {} : { cause: facts.cause });
    this.code = code;
    this.status = facts.status ?? 0;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.callId = facts.callId;
  }
}

/** The failure that a response stands for. Its body is read. */
export async function failureOfResponse(response: Response, act: string): Promise<RequestFailure> {
  const { status, headers } = response;
  const facts = { status, retryAfterSeconds: retryAfterOf(headers.get("Retry-After")) };
  const text = await response.text().catch(() => "");
  if (headers.get("Content-Type")?.startsWith("application/problem+json") === true) {
    const problem = parsedProblem(text);
    if (problem !== undefined)
      return new RequestFailure(problem.code, problem.detail, { ...facts, callId: problem.callId });
  }
  // What stands in front of the gateway replies for it while it is away.
  if (status >= 502 && status <= 504)
    return new RequestFailure("gateway_away", `Cannot ${act}: the gateway is away (status ${status})`, facts);
  return new RequestFailure("unexpected_reply", `Cannot ${act}: the reply has status ${status}`, facts);
}

/** The failure that something thrown stands for, undefined for a request that nobody needs any more. */
export function failureFrom(thrown: unknown): RequestFailure | undefined {
  if (thrown instanceof RequestFailure) return thrown;
  if (isAbort(thrown)) return undefined;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new RequestFailure("unexpected_reply", `Cannot show this: ${text}`, { cause: thrown });
}

export function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === "AbortError";
}

function parsedProblem(text: string): ProblemDetails | undefined {
  try {
    const value = JSON.parse(text) as Partial<ProblemDetails> | null;
    return typeof value?.code === "string" && typeof value.detail === "string" ? (value as ProblemDetails) : undefined;
  } catch {
    return undefined;
  }
}

function retryAfterOf(text: string | null): number | undefined {
  const seconds = Number(text ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}
