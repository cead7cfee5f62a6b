import type { Point } from './points';

export const MOST_CORNERS = 64;
declare const VERSION: string;
export type Corner = { x: number; y: number };

export interface Area<T = number> extends Base {
  readonly unit: string;
  area(scale: T): number;
  (shape: Shape): void;
  new (corners: Point[]): Area;
}

export enum Kind {
  Open,
  Closed = 'closed',
}

@Component({ selector: 'shape' })
export abstract class Shape<T extends Point = Point> implements Area {
  private readonly corners: T[] = [];
  declare name: string;
  onDraw = (canvas: Canvas): void => {};

  constructor(private readonly id: number) {}

  abstract area(scale: number): number;

  @Input()
  get size(): number {
    return this.corners.length;
  }

  protected static async load<U>(path: string): Promise<Shape> {
    return read(path);
  }
}

export namespace Drawing {
  export function draw(shape: Shape): void {}
}

declare module 'canvas' {
  export function open(): Canvas;
}

export function scale(shape: Shape): Shape;
export function scale(shape: Shape, factor: number): Shape;
export function scale(shape: Shape, factor = 1): Shape {
  return shape;
}

export const measure = (shape: Shape): number => shape.area(1);

abstract class Base {}
