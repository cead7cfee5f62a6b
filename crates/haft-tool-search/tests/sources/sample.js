'use strict';

import { read } from './files.js';

const MOST_CORNERS = 64;
let registry = {};
var first, second = 2;

export default class Shape extends Base {
  static count = 0;
  #name = 'shape';
  onDraw = (canvas) => {
    canvas.draw(this);
  };

  constructor(corners) {
    super();
    this.corners = corners;
  }

  get area() {
    return measure(this.corners);
  }

  static async load(path) {
    return new Shape(await read(path));
  }
}

export function measure(corners, { closed = true } = {}) {
  function part(a, b) {
    return a[0] * b[1];
  }
  const sign = (value) => (value < 0 ? -1 : 1);
  return sign(part(...corners));
}

export const draw = async (shape) => {
  const canvas = open();
  canvas.draw(shape);
};

function* walk(shape) {
  yield* shape.corners;
}

module.exports.scale = function (shape, factor) {
  return shape;
};

Shape.prototype.move = function move(x, y) {};

const api = {
  list() {
    return [];
  },
  remove: function (id) {},
  'find-all': (query) => query,
  version: 2,
};

describe('shapes', () => {
  function fixture() {
    return new Shape([]);
  }
});
