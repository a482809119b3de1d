import { Code } from "../../../parts/texts/shown.tsx";

/** Headers in their order. */
export function HeaderTable({ pairs }: { readonly pairs: readonly (readonly [name: string, value: string])[] }) {
  if (pairs.length === 0) return <p class="muted">No headers</p>;
  return (
    <dl class="facts">
      {pairs.map(([name, value], index) => (
        <div key={index}>
          <dt>
            <Code text={name} />
          </dt>
          <dd>
            <Code text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
