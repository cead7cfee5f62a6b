#include <stddef.h>
#include "points.h"

#define MOST_CORNERS 64
#define SQUARE(x) ((x) * (x))

typedef struct point {
    double x, y;
} point_t;

typedef int (*compare_t)(const void *, const void *);

struct shape {
    point_t *corners;
    size_t len;
    int (*draw)(struct shape *self);
};

enum kind { KIND_OPEN, KIND_CLOSED = 4 };

union bits {
    float number;
    unsigned bits;
};

extern int debug;
static const char *names[] = { "open", "closed" };
int first = 1, second;
static int (*hook)(int);

double shape_area(const struct shape *shape);
static struct shape *shape_copy(const struct shape *shape, int deep);

#ifdef HAVE_DRAW
int
shape_draw(struct shape *shape,
           int color) /* drawn at once */
{
    int count = 0;
    return count + color;
}
#else
int shape_draw(struct shape *shape, int color) { return 0; }
#endif

static struct shape *shape_copy(const struct shape *shape, int deep) {
    return deep ? clone(shape) : (struct shape *)shape;
}
