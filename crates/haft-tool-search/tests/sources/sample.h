#ifndef SHAPES_H
#define SHAPES_H

typedef struct shape shape_t;
double shape_area(const shape_t *shape);

#endif
