package shapes;

import java.util.List;

/** A shape. */
@Deprecated
public abstract class Shape<T extends Point> extends Base implements Area {
    public static final int MOST_CORNERS = 64;
    private List<T> corners, others;

    static {
        register();
    }

    @Inject
    public Shape(List<T> corners) {
        this.corners = corners;
    }

    @Override
    @SuppressWarnings("unchecked")
    public double area(
            double scale, // of the map
            int digits) throws ShapeException {
        return measure(corners) * scale;
    }

    protected abstract void draw(Canvas canvas);

    private static class Part {
        int index;

        void move() {}
    }

    enum Kind {
        OPEN,
        CLOSED {
            int corners() { return 3; }
        };

        int corners() { return 0; }
    }
}

interface Area {
    double UNIT = 1.0;

    double area(double scale, int digits);

    default double twice() {
        return area(2, 0);
    }
}

record Point(double x, double y) {
    Point {
        check(x);
    }
}

@interface Unit {
    String value() default "m";
}
