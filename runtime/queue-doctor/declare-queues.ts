import { formatDuration } from "../api/duration.ts";
import { editionNames, editions, inflightOf } from "../api/editions.ts";
import { defaultQueue } from "../api/names.ts";
import type { QueueDeclaration } from "../core/ports/queue-catalog.ts";
import { declareDefaultQueue } from "../core/queues/queue-defaults.ts";
import type { QueueEntry, QueueFactSettings } from "./queue-fact-settings.ts";

/** The queues that settings without `queueProblems` declare: the default one first, then the named ones. */
export function declareQueues(settings: QueueFactSettings): readonly QueueDeclaration[] {
  const entryOf = (name: string) => settings.queues.find((entry) => entry.name === name);
  const named = settings.queues
    .filter(({ name }) => name !== defaultQueue)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return [declare(settings, entryOf(defaultQueue) ?? { name: defaultQueue, fields: {} })].concat(
    named.map((entry) => declare(settings, entry)),
  );
}

function declare(settings: QueueFactSettings, { name, fields }: QueueEntry): QueueDeclaration {
  const strict = fields.strict ?? false;
  const declaration = declareDefaultQueue({
    replicas: fields.replicas ?? settings.queueWorkers,
    maxInflight: slotsOf(settings, fields),
    timeout: fields.timeout ?? settings.upstreamTimeout,
    ackWait: fields.ackWait ?? settings.ackWait,
    maxLength: fields.maxLength ?? settings.maxLength,
    retryAttempts: fields.retryAttempts ?? settings.retryAttempts,
    retryMinWait: fields.retryMinWait ?? settings.retryMinWait,
    retryMaxWait: fields.retryMaxWait ?? settings.retryMaxWait,
  });
  const retry = { ...declaration.retry, codes: fields.retryCodes ?? declaration.retry.codes };
  return { ...declaration, name, strict, retry };
}

/** Calls that one queue-worker of the entry runs at once. */
function slotsOf({ edition, maxInflight }: QueueFactSettings, fields: QueueEntry["fields"]): number {
  if (fields.maxInflight !== undefined) return fields.maxInflight;
  return fields.strict === true ? 1 : (maxInflight ?? inflightOf(edition));
}

/** What the entries ask for beyond the edition, and their contradictions; each problem begins with a setting's name. */
export function queueProblems(settings: QueueFactSettings): string[] {
  const { edition, queues } = settings;
  const implicit = queues.some(({ name }) => name === defaultQueue) ? [] : [{ name: defaultQueue, fields: {} }];
  const named = editions[edition].queues === "named";
  return [...implicit, ...queues].flatMap((entry) => [
    ...(named || entry.name === defaultQueue ? [] : [namedQueueProblem(entry.name, edition)]),
    ...inflightProblems(settings, entry),
    ...retryProblems(settings, entry),
    ...strictProblems(entry),
  ]);
}

function namedQueueProblem(name: string, edition: string): string {
  const needed = editionNames.find((other) => editions[other].queues === "named") ?? "enterprise";
  return `queues.${name}: edition "${edition}" has only queue "${defaultQueue}", others need edition "${needed}"`;
}

function inflightProblems(settings: QueueFactSettings, { name, fields }: QueueEntry): string[] {
  if (editions[settings.edition].maxInflight === "custom") return [];
  const atOnce = slotsOf(settings, fields) * (fields.replicas ?? settings.queueWorkers);
  if (atOnce === 1) return [];
  const setting =
    fields.maxInflight !== undefined || fields.replicas !== undefined ? `queues.${name}.max_inflight` : "max_inflight";
  const needed = editionNames.find((other) => editions[other].maxInflight === "custom") ?? "pro";
  return [
    `${setting}: edition "${settings.edition}" runs 1 queued call at a time, got ${atOnce}; more need edition "${needed}"`,
  ];
}

function retryProblems(settings: QueueFactSettings, { name, fields }: QueueEntry): string[] {
  const minWait = fields.retryMinWait ?? settings.retryMinWait;
  const maxWait = fields.retryMaxWait ?? settings.retryMaxWait;
  const path = `queues.${name}.retry`;
  const problems: string[] = [];
  // Values that come from the settings alone are checked by the rules of those settings.
  if (fields.retryMinWait === undefined && fields.retryMaxWait === undefined) return problems;
  if (minWait > maxWait) {
    problems.push(
      `${path}.min_wait: expected at most max_wait (${formatDuration(maxWait)}), got "${formatDuration(minWait)}"`,
    );
  }
  if (fields.retryMaxWait !== undefined && maxWait > settings.callMaxAge) {
    problems.push(
      `${path}.max_wait: expected at most call_max_age (${formatDuration(settings.callMaxAge)}), got "${formatDuration(maxWait)}"`,
    );
  }
  return problems;
}

function strictProblems({ name, fields }: QueueEntry): string[] {
  if (fields.strict !== true) return [];
  const problems: string[] = [];
  if ((fields.maxInflight ?? 1) > 1) {
    problems.push(`queues.${name}.max_inflight: expected 1 with strict, got "${fields.maxInflight}"`);
  }
  return problems;
}
