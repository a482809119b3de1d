import type { StreamPosition } from "../../core/ports/call-history.ts";
import type { RecordBatch, RecordChanges } from "../../core/ports/record-changes.ts";

/**
 * The records up to a position, from the first one there is, under the revisions that they had when they were read
 * first. Nothing of another stream: that is read as a whole by who goes on after the position.
 */
export async function* rereadRecords(
  records: Pick<RecordChanges, "follow">,
  position: StreamPosition,
  stop: AbortSignal,
): AsyncGenerator<RecordBatch["changes"], void> {
  for await (const batch of records.follow({ ...position, sequence: 0, at: 0 }, stop)) {
    if (batch.position.created !== position.created) return;
    yield batch.changes;
    if (batch.isLevel || batch.position.sequence >= position.sequence) return;
  }
}
