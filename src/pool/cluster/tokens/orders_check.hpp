// A model of a job with few nodes and files, in memory: clients open, write, read and close files,
// daemons drain and forget them, and messages are in flight. Everything that can happen next is a
// step. A test that takes all steps in every order explores all states (model checking).
#pragma once

#include "pool/cluster/tokens/member.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace forebay::tokens {

// A client opens the file, writes it if the kind says so, reads it, and closes it.
struct Visit {
    enum class Kind : std::uint8_t {
        reads,
        writes,
        // Clients on several nodes write together, each a part of its own. Then the client has all
        // nodes drain the file, and reads it past the pools.
        together,
    };
    std::uint64_t file = 0;
    Kind kind = Kind::reads;
    std::uint64_t group = 0;  // the group of ranks, for `together`
    auto operator<=>(const Visit&) const noexcept = default;
};
using Script = std::vector<Visit>;

// The version of each part of a file; 0: never written. In a visit of kind `together`, node n
// writes part n.
constexpr std::size_t parts_max = 3;
using Parts = std::array<std::int64_t, parts_max>;
constexpr Parts nothing{};
constexpr Parts all_of(std::int64_t version) { return {version, version, version}; }

// A client on some node.
struct ModelClient {
    enum class Stage : std::uint8_t { outside, waiting, entering, inside, asking, settling, done };
    Script script;
    std::size_t at = 0;
    Stage stage = Stage::outside;
    bool cached = false;  // as it was admitted to the file
    std::uint64_t ticket = 0;
    std::int32_t used = 0;  // how much of the visit is over
    std::optional<Parts>
        owed;  // the versions that were acknowledged when the client asked that all nodes drain
    auto operator<=>(const ModelClient&) const noexcept = default;
};

// A request for the bytes of a file to the node's parent, and its answer.
struct ModelRead {
    std::size_t incoming = 0;
    Parent parent;
    bool answered = false;
    bool dropped = false;        // a client of the asking node has written the file since
    std::optional<Parts> bytes;  // nullopt: the parent does not pass the file on (any more)
    auto operator<=>(const ModelRead&) const noexcept = default;
};

// A file in the pool of a node.
struct Pooled {
    std::int32_t opens = 0;
    bool cached = true;           // false: it is written through
    bool to_answer = false;       // the file is leaving, and left() is to be called
    std::uint64_t to_settle = 0;  // the number with which drained() is to be called
    Parts deposit{};
    std::optional<Parts> clean;  // the bytes that were read ahead
    auto operator<=>(const Pooled&) const noexcept = default;
};

class Job {
public:
    struct Client {
        Node node = 0;
        Script script;
    };
    // `readers` is as in Home's constructor.
    Job(std::uint32_t nodes, const std::vector<Client>& clients, std::uint32_t readers = 0) {
        for (const Client& client : clients) {
            for (const Visit& visit : client.script) {
                stored_[visit.file] = nothing;
            }
        }
        latest_ = stored_;
        for (Node node = 0; node < nodes; ++node) {
            hosts_.push_back(Host{.member = TokenMember{node, nodes, readers}, .pool = {}});
        }
        for (const Client& one : clients) {
            incoming_connections_.push_back(ModelClient{
                .script = one.script, .ticket = incoming_connections_.size() + 1, .owed = {}});
            node_of_.push_back(one.node);
            settle(incoming_connections_.back());
        }
    }

    struct Step {
        enum class Kind : std::uint8_t {
            incoming,
            message,
            drain,
            forget,
            answer,
            settled,
            close,
            lost,
            die,
            pass
        };
        Kind kind = Kind::incoming;
        std::uint32_t a = 0;  // a connection, a node, or the sender of the message
        std::uint64_t b = 0;  // a file, or the receiver
    };

    [[nodiscard]] std::vector<Step> steps() const {
        std::vector<Step> steps;
        for (std::uint32_t i = 0; i < incoming_connections_.size(); ++i) {
            if (can_go_on(i)) {
                steps.push_back({Step::Kind::incoming, i, 0});
            }
        }
        for (const auto& [link, messages] : links_) {
            if (!hosts_[link.second].dead && !messages.empty()) {
                steps.push_back({Step::Kind::message, link.first, link.second});
            }
        }
        for (std::uint32_t i = 0; i < passing_.size(); ++i) {
            if (can_pass(passing_[i])) {
                steps.push_back({Step::Kind::pass, i, 0});
            }
        }
        for (Node node = 0; node < hosts_.size(); ++node) {
            add_steps_of(node, steps);
        }
        return steps;
    }

    // False: a read did not return the last acknowledged write; see problem().
    [[nodiscard]] bool take(const Step& step) {
        bool right = true;
        const auto node = static_cast<Node>(step.a);
        switch (step.kind) {
            case Step::Kind::incoming:
                right = visit(incoming_connections_[step.a], node_of_[step.a]);
                break;
            case Step::Kind::message: deliver(node, static_cast<Node>(step.b)); break;
            case Step::Kind::drain: drain(hosts_[node], step.b); break;
            case Step::Kind::forget: forget(hosts_[node], step.b); break;
            case Step::Kind::answer:
                hosts_[node].pool[step.b].to_answer = false;
                hosts_[node].member.left({step.b}, true);
                break;
            case Step::Kind::settled:
                hosts_[node].member.drained(
                    {step.b}, std::exchange(hosts_[node].pool[step.b].to_settle, 0), true);
                break;
            case Step::Kind::close:
                hosts_[node].closing = false;
                hosts_[node].member.closed_down({});
                break;
            case Step::Kind::lost:
                lost_.erase({node, static_cast<Node>(step.b)});
                hosts_[step.b].member.lost(node);
                break;
            case Step::Kind::die: die(node); break;
            case Step::Kind::pass: right = pass(step.a); break;
        }
        for (Node one = 0; one < hosts_.size(); ++one) {
            apply(one);
        }
        return right;
    }

    // All clients have ended their scripts, …
    [[nodiscard]] bool over() const {
        return std::ranges::all_of(incoming_connections_, [](const ModelClient& one) {
            return one.stage == ModelClient::Stage::done;
        });
    }
    // … and the file system has what was acknowledged.
    [[nodiscard]] bool all_stored() const { return stored_ == latest_; }
    [[nodiscard]] std::string problem() const {
        return "read version " + std::to_string(seen_) + " where " + std::to_string(expected_) +
               " was acknowledged";
    }
    // The node's daemon may die at any moment. What it had not drained is lost.
    void allow_death(Node node) { mortal_ = node; }
    // Clients that write together then close the file without draining it on all nodes.
    void nobody_settles() noexcept { settles_ = false; }
    // The number of messages between daemons so far.
    [[nodiscard]] std::int64_t messages() const noexcept { return messages_; }
    // How many nodes had bytes of a file from another node.
    [[nodiscard]] std::int64_t passed() const noexcept { return passed_; }
    // How many clients were admitted with the right to cache.
    [[nodiscard]] std::int64_t cached() const noexcept { return cached_; }

    auto operator<=>(const Job&) const noexcept = default;

private:
    struct Host {
        TokenMember member;
        std::map<std::uint64_t, Pooled> pool;
        bool dead = false;
        bool closes = false;   // nothing may be cached any more, and …
        bool closing = false;  // … when all is drained, closed_down() is to be called
        auto operator<=>(const Host&) const noexcept = default;
    };
    using Link = std::pair<Node, Node>;  // from, to

    [[nodiscard]] bool can_go_on(std::size_t number) const {
        const ModelClient& one = incoming_connections_[number];
        if (one.stage == ModelClient::Stage::done || one.stage == ModelClient::Stage::waiting ||
            one.stage == ModelClient::Stage::settling || one.stage == ModelClient::Stage::asking) {
            return false;
        }
        if (one.stage != ModelClient::Stage::inside) {
            return true;
        }
        // A write to a file that is leaving waits until the file is drained.
        const Pooled& file = hosts_[node_of_[number]].pool.at(one.script[one.at].file);
        return one.used != 0 || file.cached || file.deposit == nothing;
    }

    void add_steps_of(Node node, std::vector<Step>& steps) const {
        const Host& host = hosts_[node];
        if (host.dead) {
            for (Node other = 0; other < hosts_.size(); ++other) {
                const auto under_way = links_.find({node, other});
                const bool arrived = under_way == links_.end() || under_way->second.empty();
                if (lost_.contains({node, other}) && arrived) {
                    steps.push_back({Step::Kind::lost, node, other});
                }
            }
            return;
        }
        for (const auto& [number, file] : host.pool) {
            if (file.deposit != nothing) {
                steps.push_back({Step::Kind::drain, node, number});
            } else if (file.to_settle != 0) {
                steps.push_back({Step::Kind::settled, node, number});
                if (file.opens == 0) {
                    steps.push_back({Step::Kind::forget, node, number});
                }
            } else if (file.opens == 0) {
                steps.push_back({Step::Kind::forget, node, number});
            } else if (file.to_answer) {
                steps.push_back({Step::Kind::answer, node, number});
            }
        }
        const bool drained = std::ranges::all_of(
            host.pool, [](const auto& one) { return one.second.deposit == nothing; });
        if (host.closing && drained) {
            steps.push_back({Step::Kind::close, node, 0});
        }
        if (mortal_ == node) {
            steps.push_back({Step::Kind::die, node, 0});
        }
    }

    // Goes on to the next visit, or to the end of the script.
    static void settle(ModelClient& incoming) {
        incoming.used = 0;
        incoming.stage = incoming.at < incoming.script.size() ? ModelClient::Stage::outside
                                                              : ModelClient::Stage::done;
    }

    [[nodiscard]] bool visit(ModelClient& incoming, Node node) {
        Host& host = hosts_[node];
        const Visit& now = incoming.script[incoming.at];
        if (incoming.stage == ModelClient::Stage::outside) {
            come(incoming, host);
            return true;
        }
        Pooled& file = host.pool[now.file];
        if (incoming.stage == ModelClient::Stage::entering) {
            ++file.opens;
            const bool may_cache =
                host.member.entered({now.file}, static_cast<std::uint32_t>(now.file));
            if (!incoming.cached || !may_cache || host.closes) {
                file.cached = false;
                file.clean.reset();
            }
            incoming.stage = ModelClient::Stage::inside;
            incoming.used = now.kind == Visit::Kind::reads ? 1 : 0;
            return true;
        }
        if (incoming.used == 2) {
            --file.opens;
            ++incoming.at;
            settle(incoming);
            return true;
        }
        return now.kind == Visit::Kind::together ? use_together(incoming, node, file)
                                                 : use(incoming, host, file);
    }

    void come(ModelClient& incoming, Host& host) {
        const Visit& now = incoming.script[incoming.at];
        if (incoming.stage == ModelClient::Stage::settling) {
            have_settled(incoming, host);
            return;
        }
        const Token token = now.kind == Visit::Kind::reads    ? Token::read
                            : now.kind == Visit::Kind::writes ? Token::write
                                                              : Token::collective;
        const auto admission = host.member.want({now.file}, {token, now.group}, incoming.ticket);
        incoming.stage = ModelClient::Stage::waiting;
        if (admission == FileAdmission::refused) {
            ++incoming.at;
            settle(incoming);
        } else if (admission) {
            incoming.cached = admission == FileAdmission::cached;
            cached_ += incoming.cached ? 1 : 0;
            incoming.stage = ModelClient::Stage::entering;
        }
    }

    // One write or read of a visit.
    [[nodiscard]] bool use(ModelClient& incoming, const Host& host, Pooled& file) {
        const std::uint64_t number = incoming.script[incoming.at].file;
        if (incoming.used++ == 0) {
            ++version_;
            drop_what_comes(node_of_[index_of(incoming)], number);
            (file.cached ? file.deposit : stored_[number]) = all_of(version_);
            latest_[number] = all_of(version_);
            return true;
        }
        if (file.cached && !file.clean) {
            if (const Parent parent = host.member.parent_of({number}); parent.grant != 0) {
                incoming.stage = ModelClient::Stage::asking;
                passing_.push_back({.incoming = index_of(incoming), .parent = parent, .bytes = {}});
                return true;
            }
            file.clean = stored_[number];
        }
        return read(number, file);
    }

    [[nodiscard]] std::size_t index_of(const ModelClient& incoming) const {
        return static_cast<std::size_t>(&incoming - incoming_connections_.data());
    }

    // A write makes bytes stale that are being read ahead, so they are dropped on arrival.
    void drop_what_comes(Node node, std::uint64_t number) {
        for (ModelRead& one : passing_) {
            const ModelClient& asks = incoming_connections_[one.incoming];
            one.dropped = one.dropped || (node_of_[one.incoming] == node &&
                                          asks.stage == ModelClient::Stage::asking &&
                                          asks.script[asks.at].file == number);
        }
    }

    [[nodiscard]] bool read(std::uint64_t number, const Pooled& file) {
        const Parts below = file.clean.value_or(stored_[number]);
        for (std::size_t part = 0; part < parts_max; ++part) {
            seen_ = file.deposit[part] != 0 ? file.deposit[part] : below[part];
            expected_ = latest_[number][part];
            if (seen_ != expected_) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] bool can_pass(const ModelRead& one) const {
        const ModelClient& incoming = incoming_connections_[one.incoming];
        const Host& host = hosts_[one.parent.node];
        return one.answered || host.dead || incoming.stage != ModelClient::Stage::asking ||
               !host.member.passed_on({incoming.script[incoming.at].file}, one.parent.grant).later;
    }

    // First the parent answers; then the asking node takes the answer, and its client reads.
    [[nodiscard]] bool pass(std::size_t which) {
        ModelRead& now = passing_[which];
        ModelClient& incoming = incoming_connections_[now.incoming];
        if (incoming.stage != ModelClient::Stage::asking) {  // its node has died
            passing_.erase(passing_.begin() + static_cast<std::ptrdiff_t>(which));
            return true;
        }
        const std::uint64_t number = incoming.script[incoming.at].file;
        if (!std::exchange(now.answered, true)) {
            Host& host = hosts_[now.parent.node];
            const auto known = host.pool.find(number);
            if (!host.dead && known != host.pool.end() && known->second.cached &&
                !host.member.passed_on({number}, now.parent.grant).slots.empty()) {
                if (!known->second.clean) {
                    known->second.clean = stored_[number];
                }
                now.bytes = known->second.clean;
            }
            return true;
        }
        const bool dropped = now.dropped;
        const std::optional<Parts> bytes = now.bytes;
        passing_.erase(passing_.begin() + static_cast<std::ptrdiff_t>(which));
        passed_ += bytes ? 1 : 0;
        incoming.stage = ModelClient::Stage::inside;
        Pooled& file = hosts_[node_of_[index_of(incoming)]].pool.at(number);
        if (file.cached && !file.clean && !dropped) {
            file.clean = bytes.value_or(stored_[number]);
        }
        return read(number, file);
    }

    // One step of a visit of kind `together`: write the own part, have all nodes drain, read past
    // the pools.
    [[nodiscard]] bool use_together(ModelClient& incoming, Node node, Pooled& file) {
        const std::uint64_t number = incoming.script[incoming.at].file;
        if (incoming.used == 0) {
            ++version_;
            (file.cached ? file.deposit : stored_[number]).at(node % parts_max) = version_;
            latest_[number].at(node % parts_max) = version_;
            incoming.used = 1;
            return true;
        }
        if (!settles_) {
            incoming.used = 2;
            return true;
        }
        if (!incoming.owed) {
            incoming.owed = latest_[number];
            have_settled(incoming, hosts_[node]);
            return true;
        }
        incoming.used = 2;
        const Parts owed = *std::exchange(incoming.owed, std::nullopt);
        for (std::size_t part = 0; part < parts_max; ++part) {
            seen_ = stored_[number][part];
            expected_ = owed[part];
            if (seen_ < expected_) {
                return false;
            }
        }
        return true;
    }

    static void have_settled(ModelClient& incoming, Host& host) {
        const auto answer =
            host.member.settle({incoming.script[incoming.at].file}, incoming.ticket);
        incoming.stage = answer ? ModelClient::Stage::inside : ModelClient::Stage::settling;
    }

    void deliver(Node from, Node to) {
        std::deque<TokenMessage>& link = links_[{from, to}];
        const TokenMessage message = link.front();
        link.pop_front();
        hosts_[to].member.receive(from, message);
    }

    void drain(Host& host, std::uint64_t number) {
        Pooled& file = host.pool[number];
        for (std::size_t part = 0; part < parts_max; ++part) {
            if (file.deposit[part] != 0) {
                stored_[number][part] = std::exchange(file.deposit[part], 0);
            }
        }
        file.clean.reset();
    }

    static void forget(Host& host, std::uint64_t number) {
        const Pooled file = host.pool[number];
        host.pool.erase(number);
        host.member.forgotten(static_cast<std::uint32_t>(number));
        if (file.to_settle != 0) {
            host.member.drained({number}, file.to_settle, true);
        }
        if (file.to_answer) {
            host.member.left({number}, true);
        }
    }

    // The part is reported as lost: nobody expects its last version any more.
    void lose(std::uint64_t file, std::size_t part) {
        latest_[file][part] = stored_[file][part];
        for (ModelClient& one : incoming_connections_) {
            if (one.owed && one.script[one.at].file == file) {
                one.owed->at(part) = std::min(one.owed->at(part), stored_[file][part]);
            }
        }
    }

    void die(Node node) {
        mortal_.reset();
        Host& host = hosts_[node];
        host.dead = true;
        for (const auto& [number, file] : host.pool) {
            for (std::size_t part = 0; part < parts_max; ++part) {
                if (file.deposit[part] != 0) {
                    lose(number, part);
                }
            }
        }
        host.pool.clear();
        for (std::size_t i = 0; i < incoming_connections_.size(); ++i) {
            if (node_of_[i] == node) {
                incoming_connections_[i].stage = ModelClient::Stage::done;
            }
        }
        for (Node other = 0; other < hosts_.size(); ++other) {
            if (other != node) {
                lost_.insert({node, other});
            }
        }
    }

    void apply(Node node) {
        Host& host = hosts_[node];
        for (MemberActions actions = host.member.take_actions(); !actions.empty() && !host.dead;
             actions = host.member.take_actions()) {
            for (const OutgoingMessage& one : actions.send) {
                links_[{node, one.to}].push_back(one.message);
                ++messages_;
            }
            for (const MemberActions::Leave& one : actions.leave) {
                Pooled& file = host.pool.at(one.file.inode);
                file.cached = false;
                file.clean.reset();
                file.to_answer = file.to_answer || one.answer;
            }
            for (const MemberActions::Drain& one : actions.drain) {
                host.pool.at(one.file.inode).to_settle = one.number;
            }
            if (actions.close_down) {
                host.closes = true;
                host.closing = true;
                for (auto& [number, file] : host.pool) {
                    file.cached = false;
                    file.clean.reset();
                }
            }
            for (const std::uint64_t ticket : actions.again) {
                come(incoming_connections_[ticket - 1], host);
            }
        }
    }

    std::vector<Host> hosts_;
    std::vector<ModelClient> incoming_connections_;
    std::vector<Node> node_of_;
    std::vector<ModelRead> passing_;
    std::map<Link, std::deque<TokenMessage>> links_;
    std::set<Link> lost_;                    // from a dead daemon to one that does not know it yet
    std::map<std::uint64_t, Parts> stored_;  // in the file system
    std::map<std::uint64_t, Parts> latest_;  // acknowledged
    std::int64_t version_ = 0;
    std::optional<Node> mortal_;
    bool settles_ = true;
    std::int64_t seen_ = 0;
    std::int64_t expected_ = 0;
    std::int64_t messages_ = 0;
    std::int64_t cached_ = 0;
    std::int64_t passed_ = 0;
};

}  // namespace forebay::tokens
