import { readLines } from "../requests/read-lines.ts";

/** One event of a stream. */
export interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

/** A sign of life without content. */
export const streamComment = "comment";

/** The events of a response of type `text/event-stream`; a comment is one, too, as it shows that the stream lives. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<StreamEvent | typeof streamComment> {
  let name = "message";
  let data: string[] = [];
  for await (const raw of readLines(body)) {
    const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    if (line === "") {
      if (data.length > 0) yield { name, data: data.join("\n") };
      name = "message";
      data = [];
    } else if (line.startsWith(":")) {
      yield streamComment;
    } else {
      const [field, value] = splitField(line);
      if (field === "event") name = value;
      else if (field === "data") data.push(value);
    }
  }
}

function splitField(line: string): readonly [string, string] {
  const colon = line.indexOf(":");
  if (colon === -1) return [line, ""];
  const value = line.slice(colon + 1);
  return [line.slice(0, colon), value.startsWith(" ") ? value.slice(1) : value];
}
