#include <vector>

#define MOST_CORNERS 64

namespace shapes {

constexpr int limit = 64;
using Points = std::vector<Point>;

enum class Kind : int { Open, Closed };

template <typename T>
class Shape : public Base {
public:
    explicit Shape(std::vector<T> corners);
    virtual ~Shape() = default;

    double area() const { return measure(corners_); }
    bool operator==(const Shape &other) const;
    static Shape load(const std::string &path);
    template <typename U> U as() const;

    struct Part {
        int index;
        void move();
    };

private:
    std::vector<T> corners_;
    static int count_;
};

template <typename T>
Shape<T>::Shape(std::vector<T> corners) : corners_(std::move(corners)) {}

template <typename T>
bool Shape<T>::operator==(const Shape &other) const {
    return corners_ == other.corners_;
}

class Forward;

namespace {
int &counter() {
    static int count = 0;
    return count;
}
}

}  // namespace shapes

namespace a::b {
auto measure(int x) -> double;
}

extern "C" {
int shape_area(struct shape *shape);
}

int main(int argc, char **argv) {
    auto draw = [](int x) { return x; };
    return draw(argc);
}
