// Searches for k on targets that are formulas: how close it comes to the best k, how fast, and how
// it reacts to a target that changes.
#include "storage/policy/throttle.hpp"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <tuple>

namespace forebay::plan {
namespace {

// The target's rate in bytes per second with k requests in flight.
using Curve = std::function<double(double k)>;

// Serves requests of a job that always has as many in flight as allowed.
void serve(Throttle& throttle, const Curve& curve, int requests, std::mt19937_64& random,
           double jitter) {
    constexpr double bytes = 1 << 20;
    for (int i = 0; i < requests; ++i) {
        const std::int32_t k = throttle.limit();
        std::uniform_real_distribution<double> vary{1 - jitter, 1 + jitter};
        const double seconds = k * bytes / curve(k) * vary(random);
        throttle.observe({1 << 20, static_cast<std::int64_t>(seconds * 1e9), k});
    }
}

// Gunther's universal scalability law: `contention` is the serial share, `crosstalk` the cost of
// each pair.
Curve law(double contention, double crosstalk) {
    return [=](double k) { return 1e8 * k / (1 + contention * (k - 1) + crosstalk * k * (k - 1)); };
}

double best_of(const Curve& curve) {
    double best = 0;
    for (int k = 1; k <= Throttle::limit_max; ++k) {
        best = std::max(best, curve(k));
    }
    return best;
}

class AnyCurve : public testing::TestWithParam<std::tuple<double, double, int>> {};

TEST_P(AnyCurve, SettlesWithinEightRoundsNearTheBest) {
    const auto [contention, crosstalk, seed] = GetParam();
    const Curve curve = law(contention, crosstalk);
    std::mt19937_64 random{static_cast<std::uint64_t>(seed)};
    Throttle throttle = Throttle::finding(2);
    for (int i = 0; i < 100000 && !throttle.settled(); ++i) {
        serve(throttle, curve, 1, random, 0.0);
    }
    EXPECT_TRUE(throttle.settled());
    EXPECT_LE(throttle.rounds(), Throttle::rounds_max);
    EXPECT_GE(curve(throttle.best()), 0.95 * best_of(curve)) << "k = " << throttle.best();
    serve(throttle, curve, 20000, random, 0.1);
    EXPECT_GE(curve(throttle.best()), 0.95 * best_of(curve)) << "k = " << throttle.best();
}

INSTANTIATE_TEST_SUITE_P(Laws, AnyCurve,
                         testing::Combine(testing::Values(0.0, 0.1, 0.5, 0.9, 1.0),
                                          testing::Values(0.001, 0.01, 0.05, 0.3),
                                          testing::Values(1, 2, 3)));

TEST(Throttle, AFixedOneNeverChanges) {
    std::mt19937_64 random{1};
    Throttle throttle = Throttle::fixed(3);
    serve(throttle, law(0, 0.001), 1000, random, 0.1);
    EXPECT_EQ(throttle.limit(), 3);
    EXPECT_GT(throttle.rate(), 0);
}

TEST(Throttle, FallsBackWhenRequestsOnlyWaitLonger) {
    std::mt19937_64 random{1};
    Throttle throttle = Throttle::finding(16);
    serve(throttle, law(1.0, 0.0), 2000, random, 0.0);  // the same rate whatever k is
    EXPECT_LE(throttle.best(), 2);
}

TEST(Throttle, BeginsAnewWhenTheTargetBecomesAnother) {
    std::mt19937_64 random{1};
    Throttle throttle = Throttle::finding(2);
    serve(throttle, law(1.0, 0.3), 2000, random, 0.0);
    EXPECT_EQ(throttle.best(), 1);
    serve(throttle, law(0.0, 0.001), 5000, random, 0.0);
    EXPECT_GE(throttle.best(), 16);
}

TEST(Throttle, ProbesDoNotStayWhereNobodyCanFollow) {
    Throttle throttle = Throttle::finding(2);
    for (int i = 0; i < 20000; ++i) {
        const std::int32_t k = std::min(throttle.limit(), 3);
        throttle.observe({1 << 20, k == 3 ? 10'000'000 : 20'000'000, k});
    }
    EXPECT_EQ(throttle.best(), 3);
    for (int i = 0; i < 20000; ++i) {  // it still notices that the target has changed
        const std::int32_t k = std::min(throttle.limit(), 3);
        throttle.observe({1 << 20, std::int64_t{k} * k * 10'000'000, k});
    }
    EXPECT_EQ(throttle.best(), 1);
}

TEST(Throttle, BeginsWithWhatWasFoundBefore) {
    std::mt19937_64 random{1};
    const Curve curve = law(0.0, 0.01);  // best at 10
    Throttle throttle = Throttle::knowing({10, curve(10)});
    EXPECT_TRUE(throttle.settled());
    EXPECT_FALSE(throttle.found()) << "it has not been looked at";
    serve(throttle, curve, 100, random, 0.1);
    EXPECT_TRUE(throttle.found());
    serve(throttle, curve, 5000, random, 0.1);
    EXPECT_GE(curve(throttle.best()), 0.95 * best_of(curve));
}

TEST(Throttle, ChecksWhatWasFoundBefore) {
    std::mt19937_64 random{1};
    const Curve curve = law(0.0, 0.01);
    Throttle slower = Throttle::knowing({2, 10 * curve(2)});
    serve(slower, curve, 2000, random, 0.1);
    EXPECT_GE(curve(slower.best()), 0.95 * best_of(curve)) << "another rate: finds anew";
    Throttle other = Throttle::knowing({2, curve(2)});
    serve(other, curve, 5000, random, 0.1);
    EXPECT_GE(curve(other.best()), 0.95 * best_of(curve)) << "a neighbour is better";
    Throttle old = Throttle::knowing({2, 0});
    EXPECT_FALSE(old.settled());
}

// Serves requests of a job that never has more than `most` in flight at the target.
void serve_few(Throttle& throttle, const Curve& curve, int requests, std::int32_t most) {
    constexpr double bytes = 1 << 20;
    for (int i = 0; i < requests; ++i) {
        const std::int32_t k = std::min(throttle.limit(), most);
        const double seconds = k * bytes / curve(k);
        throttle.observe({1 << 20, static_cast<std::int64_t>(seconds * 1e9), k});
    }
}

class BeyondReach : public testing::TestWithParam<int> {};

TEST_P(BeyondReach, DoesNotStayWhereNobodyEverIs) {
    const Curve worse = law(1.0, 0.3);  // best at 1
    Throttle throttle = Throttle::finding(GetParam());
    serve_few(throttle, worse, 3000, 4);
    EXPECT_TRUE(throttle.found());
    EXPECT_EQ(throttle.best(), 1);
    EXPECT_DOUBLE_EQ(throttle.rate(), worse(1));
}

TEST_P(BeyondReach, DoesNotBelieveWhatAnotherJobFound) {
    const Curve worse = law(1.0, 0.3);
    Throttle throttle = Throttle::knowing({GetParam(), 1e8});
    serve_few(throttle, worse, 3000, 4);
    EXPECT_TRUE(throttle.found());
    EXPECT_EQ(throttle.best(), 1);
}

INSTANTIATE_TEST_SUITE_P(Firsts, BeyondReach, testing::Values(5, 6, 8, 12, 16, 20, 64));

TEST_P(BeyondReach, FindsTheBestOfWhatTheJobHas) {
    for (const double contention : {0.0, 0.5, 1.0}) {
        for (const double crosstalk : {0.001, 0.05, 0.3}) {
            for (std::int32_t most = 1; most <= 20; ++most) {
                const Curve curve = law(contention, crosstalk);
                double best = 0;
                for (int k = 1; k <= most; ++k) {
                    best = std::max(best, curve(k));
                }
                Throttle throttle = Throttle::finding(GetParam());
                serve_few(throttle, curve, 5000, most);
                EXPECT_TRUE(throttle.settled());
                EXPECT_LE(throttle.best(), most);
                // The search ends within a quarter of the best k, which matters where the curve
                // ends steeply.
                EXPECT_GE(curve(throttle.best()), 0.8 * best) << most << " at most";
            }
        }
    }
}

TEST(Throttle, FollowsAJobThatHasFewerRequestsThanBefore) {
    Throttle throttle = Throttle::finding(2);
    serve_few(throttle, law(0.0, 0.001), 5000, 64);
    EXPECT_GE(throttle.best(), 16);
    serve_few(throttle, law(1.0, 0.3), 5000, 4);
    EXPECT_EQ(throttle.best(), 1);
}

TEST(Throttle, KeepsWhatItFoundThroughCallsThatBeginAndEndWithFew) {
    std::mt19937_64 random{1};
    const Curve curve = law(0.0, 0.01);  // best at 10
    Throttle throttle = Throttle::finding(2);
    serve(throttle, curve, 5000, random, 0.0);
    ASSERT_GE(curve(throttle.best()), 0.95 * best_of(curve));
    for (int call = 0; call < 200; ++call) {
        for (int started = 1; started < throttle.limit(); ++started) {
            serve_few(throttle, curve, 1, started);
        }
        serve(throttle, curve, 10, random, 0.0);
        EXPECT_GE(curve(throttle.best()), 0.95 * best_of(curve)) << "call " << call;
    }
}

TEST(Throttle, DoesNotSayThatItFoundWhatTheJobHadToGive) {
    Throttle scarce = Throttle::finding(2);
    serve_few(scarce, law(0.0, 0.001), 3000, 4);
    EXPECT_TRUE(scarce.settled());
    EXPECT_EQ(scarce.best(), 4);
    EXPECT_FALSE(scarce.found()) << "the target may like more";
    Throttle enough = Throttle::finding(2);
    serve_few(enough, law(1.0, 0.3), 3000, 4);
    EXPECT_TRUE(enough.found()) << "less is better, and that was seen";
}

TEST(Throttle, DoesNotTryMoreThanAnybodyHas) {
    Throttle throttle = Throttle::finding(2);
    for (int i = 0; i < 2000; ++i) {
        const std::int32_t k = std::min(throttle.limit(), 3);  // three buffers
        throttle.observe({1 << 20, 10'000'000, k});
    }
    EXPECT_TRUE(throttle.settled());
    EXPECT_LE(throttle.limit(), 4);
}

TEST(Throttle, BeginsWithWhatIsSetOrKnown) {
    struct Row {
        const char* name;
        std::int32_t asked;
        FoundLimit known;
        std::int32_t limit;
        bool finds;
        bool settled;
    };
    const std::vector<Row> table{
        {"as set", 3, {}, 3, false, false},
        {"as set, whatever is known", 3, {7, 1e9}, 3, false, false},
        {"found from the start",
         find_requests_in_flight,
         {},
         first_requests_in_flight,
         true,
         false},
        {"known", find_requests_in_flight, {7, 1e9}, 7, true, true},
        {"known long ago", find_requests_in_flight, {7, 0}, 7, true, false},
    };
    for (const Row& row : table) {
        Tuning tuning;
        tuning.requests_in_flight = row.asked;
        const Throttle throttle = Throttle::first(tuning, row.known);
        EXPECT_EQ(throttle.limit(), row.limit) << row.name;
        EXPECT_EQ(throttle.finds(), row.finds) << row.name;
        EXPECT_EQ(throttle.settled(), row.settled) << row.name;
    }
}

}  // namespace
}  // namespace forebay::plan
