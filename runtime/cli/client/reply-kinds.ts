import type { SimulateReply, WhoAmI } from "../../api/schemas/iam/access.ts";
import type { EndedSessions, OpenSession } from "../../api/schemas/iam/session.ts";
import type { CallRecord } from "../../api/schemas/call-record.ts";
import type { CallDetail } from "../../api/schemas/history/call-detail.ts";
import type { CallPageView, HistoryStatus } from "../../api/schemas/history/call-page.ts";
import type { CallRequest } from "../../api/schemas/history/call-request.ts";
import type { FunctionNamespaceBody } from "../../api/schemas/function-namespace.ts";
import type { FunctionStatus } from "../../api/schemas/function-status.ts";
import type { DeadLetterPage, DeadLetterView, QueueStatus } from "../../api/schemas/queue-status.ts";
import type { SecretListItem } from "../../api/schemas/secret.ts";
import type { signInMember, SignInIssuer } from "../../api/schemas/iam/sign-in.ts";
import type { SystemInfo } from "../../api/schemas/system-info.ts";

/** A kind of replies: what all of them have, and nothing has that is not of a Weir. */
export interface ReplyKind<T> {
  /** One of them, and several, as in `it is not a queue`. */
  readonly one: string;
  readonly many: string;
  readonly fits: (value: unknown) => value is T;
}

const conditionTexts = ["type", "status", "reason", "message"];

export const functionReply: ReplyKind<FunctionStatus> = {
  one: "a function",
  many: "a list of functions",
  fits: (value): value is FunctionStatus =>
    hasTexts(value, ["name", "namespace", "image", "createdAt"]) &&
    isListOf(value["conditions"], (condition) => hasTexts(condition, conditionTexts)) &&
    hasOptionalTexts(value, ["secrets", "constraints"]),
};

/** For what needs no more of it. */
export const functionNameReply: ReplyKind<Pick<FunctionStatus, "name" | "secrets">> = {
  one: functionReply.one,
  many: functionReply.many,
  fits: (value): value is Pick<FunctionStatus, "name" | "secrets"> =>
    hasTexts(value, ["name"]) && hasOptionalTexts(value, ["secrets"]),
};

export const queueReply: ReplyKind<QueueStatus> = {
  one: "a queue",
  many: "a list of queues",
  fits: (value): value is QueueStatus => hasTexts(value, ["name"], ["timeout", "ackWait", "why"]),
};

export const deadLettersReply: ReplyKind<DeadLetterPage> = {
  one: "a list of dead letters",
  many: "lists of dead letters",
  fits: (value): value is DeadLetterPage => hasTexts(value, [], ["next"]) && isListOf(value["items"], isLetter),
};

function isLetter(value: unknown): value is DeadLetterView {
  return hasTexts(value, ["callId"], ["functionName", "namespace", "reason", "advice"]);
}

export const secretReply: ReplyKind<SecretListItem> = {
  one: "a secret",
  many: "a list of secrets",
  fits: (value): value is SecretListItem => hasTexts(value, ["name"]),
};

export const namespaceReply: ReplyKind<FunctionNamespaceBody> = {
  one: "a namespace",
  many: "a list of namespaces",
  fits: (value): value is FunctionNamespaceBody => hasTexts(value, ["name"]),
};

export const namespaceNameReply: ReplyKind<string> = {
  one: "the name of a namespace",
  many: "a list of namespaces",
  fits: isText,
};

export const callReply: ReplyKind<CallRecord> = {
  one: "a call",
  many: "a list of calls",
  fits: (value): value is CallRecord =>
    hasTexts(value, ["callId", "functionName", "namespace", "queue", "state", "acceptedAt"], ["reason"]) &&
    isListOf(value["attempts"], (attempt) => hasTexts(attempt, ["startedAt"], ["error"])),
};

export const callPageReply: ReplyKind<CallPageView> = {
  one: "a page of calls",
  many: "pages of calls",
  fits: (value): value is CallPageView =>
    hasTexts(value, [], ["next"]) &&
    isListOf(value["items"], isCallSummary) &&
    hasNumber(value["total"], "value") &&
    isHistoryStatus(value["history"]),
};

function isCallSummary(value: unknown): value is Fields {
  return hasTexts(value, ["callId", "functionName", "namespace", "state", "acceptedAt"], ["reason"]);
}

function isHistoryStatus(value: unknown): value is HistoryStatus {
  return hasNumber(value, "lagSeconds") && isListOf(value["gaps"], (gap) => hasTexts(gap, ["from", "to"]));
}

export const callDetailReply: ReplyKind<CallDetail> = {
  one: "a call",
  many: "a list of calls",
  fits: (value): value is CallDetail =>
    isCallSummary(value) &&
    hasTexts(value, [], ["replayOf", "queue"]) &&
    (value["principal"] === undefined || hasTexts(value["principal"], ["subject"], ["issuer"])) &&
    isListOf(value["replays"], isText) &&
    isListOf(value["timeline"], (step) => hasTexts(step, ["at", "kind"], ["worker", "replica", "reason", "next"])) &&
    isMap(value["request"]) &&
    isMap(value["logs"]) &&
    isHistoryStatus(value["history"]),
};

export const callRequestReply: ReplyKind<CallRequest> = {
  one: "the request of a call",
  many: "requests of calls",
  fits: (value): value is CallRequest =>
    hasTexts(value, ["method", "path", "body"], ["query"]) &&
    isListOf(value["headers"], isText) &&
    isListOf(value["redacted"], isText),
};

/** Other gateways of this API family say less. */
export const anyInfoReply: ReplyKind<Partial<SystemInfo>> = {
  one: "what a gateway says of itself",
  many: "what gateways say of themselves",
  fits: (value): value is Partial<SystemInfo> => hasTexts(value, [], ["edition", "apiVersion"]),
};

export const infoReply: ReplyKind<SystemInfo> = {
  one: "what a Weir says of itself",
  many: "what Weirs say of themselves",
  fits: (value): value is SystemInfo =>
    hasTexts(value, ["edition", "functionNamespace"]) && hasTexts(value["provider"], ["provider"]),
};

/** What a gateway publishes of its tokens; other issuers' documents fit, too, and offer nothing. */
export const signInReply: ReplyKind<Partial<Readonly<Record<typeof signInMember, readonly SignInIssuer[]>>>> = {
  one: "the description of a token issuer",
  many: "descriptions of token issuers",
  fits: (value): value is Partial<Record<typeof signInMember, readonly SignInIssuer[]>> =>
    hasTexts(value, ["issuer"]) &&
    (value["weir_sign_in"] === undefined || isListOf(value["weir_sign_in"], isSignInIssuer)),
};

function isSignInIssuer(value: unknown): value is SignInIssuer {
  return hasTexts(value, ["name", "issuer", "clientId"]) && isListOf(value["scopes"], isText);
}

export const whoAmIReply: ReplyKind<WhoAmI> = {
  one: "who signed in",
  many: "lists of who signed in",
  fits: (value): value is WhoAmI =>
    hasTexts(value, ["subject", "via"], ["issuer", "name", "expiresAt"]) &&
    typeof value["administrator"] === "boolean" &&
    isListOf(value["policies"], isText),
};

export const sessionReply: ReplyKind<OpenSession> = {
  one: "a session",
  many: "a list of sessions",
  fits: (value): value is OpenSession =>
    hasTexts(value, ["id", "subject", "via", "expiresAt"], ["name", "issuer", "openedAt"]),
};

export const endedSessionsReply: ReplyKind<EndedSessions> = {
  one: "a list of ended sessions",
  many: "lists of ended sessions",
  fits: (value): value is EndedSessions => isMap(value) && isListOf(value["ended"], sessionReply.fits),
};

export const decisionReply: ReplyKind<SimulateReply> = {
  one: "a decision",
  many: "decisions",
  fits: (value): value is SimulateReply =>
    hasTexts(value, [], ["role", "policy", "sid", "reportedBy"]) &&
    typeof value["allowed"] === "boolean" &&
    (value["missing"] === undefined || hasTexts(value["missing"], ["action", "resource"])),
};

type Fields = Readonly<Record<string, unknown>>;

/** Whether it is a map with these texts, where the optional ones are texts if they are there. */
function hasTexts(value: unknown, names: readonly string[], optional: readonly string[] = []): value is Fields {
  return (
    isMap(value) &&
    names.every((name) => Object.hasOwn(value, name) && isText(value[name])) &&
    optional.every((name) => !Object.hasOwn(value, name) || isText(value[name]))
  );
}

function hasNumber(value: unknown, name: string): value is Fields {
  return isMap(value) && typeof value[name] === "number";
}

function isMap(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hasOptionalTexts(value: Fields, lists: readonly string[]): boolean {
  return lists.every((name) => value[name] === undefined || isListOf(value[name], isText));
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isListOf(value: unknown, fits: (element: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(fits);
}
