/** What a view is rendered into in tests: as much of a document as that takes. */
abstract class PageNode {
  parentNode: PageElement | null = null;
  abstract readonly text: string;

  get nextSibling(): PageNode | null {
    const siblings = this.parentNode?.childNodes ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  remove(): void {
    const siblings = this.parentNode?.childNodes;
    siblings?.splice(siblings.indexOf(this), 1);
    this.parentNode = null;
  }
}

class PageText extends PageNode {
  readonly nodeType = 3;
  data: string;

  constructor(data: string) {
    super();
    this.data = data;
  }

  get text(): string {
    return this.data;
  }
}

type Listener = (event: PageEvent) => void;

/** An event as far as handlers look at it. */
export interface PageEvent {
  readonly type: string;
  readonly currentTarget: PageElement;
  readonly target: PageElement;
  defaultPrevented: boolean;
  preventDefault(): void;
}

/** An element with attributes, listeners and children. */
export class PageElement extends PageNode {
  readonly nodeType = 1;
  readonly localName: string;
  readonly namespaceURI: string;
  readonly childNodes: PageNode[] = [];
  readonly attributes = new Map<string, string>();
  readonly style: Record<string, unknown>;
  readonly #listeners = new Map<string, Listener>();
  value = "";
  isOpen = false;

  constructor(name: string, namespace = "http://www.w3.org/1999/xhtml") {
    super();
    this.localName = name;
    this.namespaceURI = namespace;
    this.style = { setProperty: (key: string, value: string) => (this.style[key] = value) };
  }

  get firstChild(): PageNode | null {
    return this.childNodes[0] ?? null;
  }

  get text(): string {
    return this.childNodes.map(({ text }) => text).join("");
  }

  insertBefore(node: PageNode, before: PageNode | null): PageNode {
    node.remove();
    const at = before === null ? this.childNodes.length : this.childNodes.indexOf(before);
    this.childNodes.splice(at, 0, node);
    node.parentNode = this;
    return node;
  }

  appendChild(node: PageNode): PageNode {
    return this.insertBefore(node, null);
  }

  removeChild(node: PageNode): PageNode {
    node.remove();
    return node;
  }

  setAttribute(name: string, value: unknown): void {
    this.attributes.set(name, String(value));
  }

  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, listener);
  }

  removeEventListener(type: string): void {
    this.#listeners.delete(type);
  }

  focus(): void {
    focusOn(this);
  }

  showModal(): void {
    this.isOpen = true;
  }

  close(): void {
    this.isOpen = false;
  }

  /** Sends an event to this element alone. */
  fire(type: string): PageEvent {
    const event: PageEvent = {
      type,
      currentTarget: this,
      target: this,
      defaultPrevented: false,
      preventDefault: () => (event.defaultPrevented = true),
    };
    this.#listeners.get(type)?.call(this, event);
    return event;
  }

  /** All elements below it that fit. */
  all(fits: (element: PageElement) => boolean): readonly PageElement[] {
    return this.childNodes.flatMap((node) => {
      if (!(node instanceof PageElement)) return [];
      return [...(fits(node) ? [node] : []), ...node.all(fits)];
    });
  }

  /** The only element with this name, and this text if it is given. */
  one(name: string, text?: string): PageElement {
    const found = this.all((each) => each.localName === name && (text === undefined || each.text === text));
    const [only] = found;
    if (only === undefined || found.length > 1) throw new Error(`There are ${found.length} <${name}> in: ${this.text}`);
    return only;
  }
}

let focused: PageElement | undefined;

function focusOn(element: PageElement): void {
  focused = element;
}

/** A document for one test: the global one until it is given back. */
export function openPageDocument(): { readonly body: PageElement; readonly focused: () => string; close(): void } {
  const body = new PageElement("body");
  const document = {
    title: "",
    documentElement: new PageElement("html"),
    createElement: (name: string) => new PageElement(name),
    createElementNS: (namespace: string, name: string) => new PageElement(name, namespace),
    createTextNode: (data: string) => new PageText(data),
  };
  const before = Object.getOwnPropertyDescriptor(globalThis, "document");
  Object.defineProperty(globalThis, "document", { value: document, configurable: true });
  return {
    body,
    focused: () => focused?.localName ?? "",
    close: () => {
      focused = undefined;
      if (before === undefined) Reflect.deleteProperty(globalThis, "document");
      else Object.defineProperty(globalThis, "document", before);
    },
  };
}
