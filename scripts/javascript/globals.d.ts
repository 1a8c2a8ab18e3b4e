// What the scripts of the site find in the browser besides the browser's own: Material's things,
// and what docs/assets/widgets/shared.js gives the widgets.

declare const document$: { subscribe(run: () => void): void };
declare const __md_scope: URL;
declare function __md_get<Value>(key: string): Value | null;
declare function __md_set(key: string, value: unknown): void;

type Make = (
  tag: string,
  attributes?: { [name: string]: any },
  ...children: (Node | string)[]
) => any;
type Interval = [number, number];

interface Cells {
  table: HTMLTableElement;
  all: HTMLTableCellElement[][];
  update(values: number[][], largest?: number): void;
}

interface Plane {
  picture: any;
  right(x: number): number;
  down(y: number): number;
  path(points: [number, number][]): string;
}

interface Kit {
  push(define: (kit: Kit) => void): void;
  widget(widget: Widget): void;
  widgets: { [name: string]: Widget };
  data: { [name: string]: string };
  html: Make;
  svg: Make;
  cells(
    rows: number,
    columns: number,
    how?: { role?: string; digits?: number; side?: string[]; label?: string },
  ): Cells;
  heat(
    role: string,
    label: string,
  ): { canvas: HTMLCanvasElement; update(values: number[][], largest: number): void };
  plane(how: {
    x: Interval;
    y: Interval;
    width: number;
    height: number;
    label: string;
    drag?: (x: number, y: number, start: boolean) => void;
  }): Plane;
  part(caption: string, ...content: (Node | string)[]): HTMLElement;
  number(value: number, digits?: number): string;
  words(text: string, values: { [key: string]: any }): string;
}

interface Window {
  tokpos: Kit | ((kit: Kit) => void)[];
}
