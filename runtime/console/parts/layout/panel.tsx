import { Component, type ComponentChildren, type ErrorInfo } from "preact";
import { useId } from "preact/hooks";

import { CopyBlock } from "../texts/copy.tsx";

export interface PanelProps {
  readonly title?: string;
  /** Beside the title: buttons, links, a count. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
  /** Without a frame around its content, for lists that go to the edge. */
  readonly bare?: boolean;
}

/** A part of a page. One that breaks says so; the rest of the page works. */
export function Panel({ title, aside, children, bare = false }: PanelProps) {
  const id = useId();
  return (
    <section class={bare ? "panel panel-bare" : "panel"} aria-labelledby={title === undefined ? undefined : id}>
      {(title !== undefined || aside !== undefined) && (
        <header class="panel-head">
          {title !== undefined && <h2 id={id}>{title}</h2>}
          {aside !== undefined && <div class="panel-aside">{aside}</div>}
        </header>
      )}
      <DefectBoundary>{children}</DefectBoundary>
    </section>
  );
}

interface DefectState {
  readonly defect?: { readonly error: unknown; readonly parts: string };
}

/** Shows what broke instead of it; nothing is sent anywhere. */
export class DefectBoundary extends Component<{ readonly children: ComponentChildren }, DefectState> {
  override state: DefectState = {};

  override componentDidCatch(error: unknown, info: ErrorInfo): void {
    this.setState({ defect: { error, parts: info.componentStack ?? "" } });
  }

  override render() {
    const { defect } = this.state;
    if (defect === undefined) return <>{this.props.children}</>;
    return (
      <div class="stack" role="alert">
        <p class="empty-title">This is a defect of the console</p>
        <p>The rest of the page works. Please report it with this text:</p>
        <CopyBlock text={`${defectText(defect.error)}${defect.parts}`} label="What broke" />
      </div>
    );
  }
}

function defectText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.stack?.includes(error.message) === true ? error.stack : `${error.message}\n${error.stack ?? ""}`;
}
