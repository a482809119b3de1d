import { Fragment } from "preact";

import { shownParts } from "../../data/words/shown-text.ts";

/** A text that came from elsewhere: characters that nobody would see are shown as escapes. */
export function Shown({ text }: { readonly text: string }) {
  const parts = shownParts(text);
  const [first] = parts;
  if (parts.length === 1 && first !== undefined && !first.isEscape) return <>{first.text}</>;
  return (
    <>
      {parts.map((part, index) =>
        part.isEscape ? (
          <span key={index} class="escape">
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
    </>
  );
}

/** The same in a font whose characters are all as wide, in its own direction; long ones break. */
export function Code({ text }: { readonly text: string }) {
  return (
    <code dir="auto">
      <Shown text={text} />
    </code>
  );
}

/** A name in one line: what does not fit is cut, and shown on hover. */
export function Name({ text }: { readonly text: string }) {
  return (
    <bdi
      class="name"
      title={
        text.length > 20
          ? shownParts(text)
              .map((part) => part.text)
              .join("")
          : undefined
      }
    >
      <Shown text={text} />
    </bdi>
  );
}

/** Somebody: what people call them, if that is known, and their subject. */
export function Who({ subject, name }: { readonly subject: string; readonly name: string | undefined }) {
  if (name === undefined) return <Name text={subject} />;
  return (
    <>
      <Name text={name} />{" "}
      <span class="muted">
        <Name text={subject} />
      </span>
    </>
  );
}

/** A name such as `com.example/key`, which breaks after dots and slashes rather than inside words. */
export function Breaking({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(/(?<=[./])/).map((part, index) => (
        <Fragment key={index}>
          {index > 0 && <wbr />}
          <Shown text={part} />
        </Fragment>
      ))}
    </>
  );
}
