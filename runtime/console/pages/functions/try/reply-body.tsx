import { sizeWords } from "../../../data/words/number-words.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { CopyButton } from "../../../parts/texts/copy.tsx";
import { Shown } from "../../../parts/texts/shown.tsx";

/** Larger ones are not shown, bytes. */
const mostShown = 262_144;

export interface ReplyBodyProps {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Of the file that it is saved as. */
  readonly fileName: string;
}

/** What a function said, as text; what is none, or too large, can be saved. */
export function ReplyBody({ body, fileName }: ReplyBodyProps) {
  const text = body.byteLength > mostShown ? undefined : bodyText(body);
  if (body.byteLength === 0) return <p class="muted">The body is empty</p>;
  return (
    <div class="stack">
      {text === undefined ? (
        <p>
          {sizeWords(body.byteLength)}, {body.byteLength > mostShown ? "too much to be shown" : "not text"}
        </p>
      ) : (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard has to reach it
        <pre class="body" tabIndex={0} aria-label="Body" dir="auto">
          <Shown text={text} />
        </pre>
      )}
      <div class="row-of-buttons">
        {text !== undefined && <CopyButton text={text} label="Copy the body" />}
        <Button look="quiet" onClick={() => save(body, fileName)}>
          Save it as a file
        </Button>
      </div>
    </div>
  );
}

/** Bytes as text; undefined when they are none. */
export function bodyText(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** Saves bytes that came from a function. Their type is one that no browser shows as a page of ours. */
export function save(bytes: Uint8Array<ArrayBuffer>, fileName: string): void {
  const address = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName;
  link.click();
  // The browser has begun by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
