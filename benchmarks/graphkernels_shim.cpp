// A way into the C++ package graphkernels without its wrapper, which is made by SWIG for versions
// of Python and numpy that are gone: C functions on plain arrays, to be compiled together with the
// package's own GKextCPy.cpp. Converting the arrays is not timed.

#include "GKextCPy.h"

#include <cstdint>

struct Graphs {
    std::vector<Eigen::MatrixXi> edges;
    std::vector<std::vector<int>> labels;
    std::vector<int> n_nodes, n_edges, max_degrees;
    std::vector<Eigen::MatrixXi> adjacency;
    std::vector<std::vector<std::vector<int>>> neighbours;
};

static void add_adjacency(Graphs* graphs, int n, const Eigen::MatrixXi& edges) {
    Eigen::MatrixXi adjacency = Eigen::MatrixXi::Zero(n, n);
    std::vector<std::vector<int>> neighbours(n);
    for (int e = 0; e < edges.rows(); ++e) {
        const int tail = edges(e, 0), head = edges(e, 1);
        adjacency(tail, head) = adjacency(head, tail) = 1;
        neighbours[tail].push_back(head);
        neighbours[head].push_back(tail);
    }
    // The package merges lists of neighbours: they must be in order.
    for (auto& around : neighbours) std::sort(around.begin(), around.end());
    graphs->adjacency.push_back(adjacency);
    graphs->neighbours.push_back(neighbours);
}

extern "C" {

// Labels must be positive: the package pads lists of neighbours' labels with 0.
Graphs* graphs_new(int n_graphs, const int64_t* node_offsets, const int64_t* labels,
                   const int64_t* edge_offsets, const int64_t* edges) {
    Graphs* graphs = new Graphs;
    for (int g = 0; g < n_graphs; ++g) {
        const int n = static_cast<int>(node_offsets[g + 1] - node_offsets[g]);
        const int m = static_cast<int>(edge_offsets[g + 1] - edge_offsets[g]);
        std::vector<int> degrees(n, 0);
        Eigen::MatrixXi matrix(m, 3);
        for (int e = 0; e < m; ++e) {
            for (int end = 0; end < 2; ++end) {
                matrix(e, end) = static_cast<int>(edges[2 * (edge_offsets[g] + e) + end]);
                ++degrees[matrix(e, end)];
            }
            matrix(e, 2) = 1;
        }
        graphs->edges.push_back(matrix);
        add_adjacency(graphs, n, matrix);
        graphs->labels.emplace_back(labels + node_offsets[g], labels + node_offsets[g + 1]);
        graphs->n_nodes.push_back(n);
        graphs->n_edges.push_back(m);
        graphs->max_degrees.push_back(n ? *std::max_element(degrees.begin(), degrees.end()) : 0);
    }
    return graphs;
}

void graphs_free(Graphs* graphs) { delete graphs; }

void weisfeiler_lehman(Graphs* graphs, int n_iter, double* out) {
    Eigen::MatrixXd matrix = WLKernelMatrix(graphs->edges, graphs->labels, graphs->n_nodes,
                                            graphs->n_edges, graphs->max_degrees, n_iter);
    std::copy(matrix.data(), matrix.data() + matrix.size(), out);
}

void vertex_histogram(Graphs* graphs, double* out) {
    std::vector<double> parameters{-1.0};
    Eigen::MatrixXd matrix =
        CalculateKernelPy(graphs->edges, graphs->labels, graphs->n_nodes, graphs->n_edges,
                          graphs->max_degrees, parameters, 2);
    std::copy(matrix.data(), matrix.data() + matrix.size(), out);
}

// Frequencies of all induced subgraphs of four nodes, and of the connected ones.
void four_node_graphlets(Graphs* graphs, double* out) {
    Eigen::MatrixXd matrix = CalculateGraphletKernelPy(graphs->adjacency, graphs->neighbours, 4);
    std::copy(matrix.data(), matrix.data() + matrix.size(), out);
}

void connected_four_node_graphlets(Graphs* graphs, double* out) {
    Eigen::MatrixXd matrix =
        CalculateConnectedGraphletKernelPy(graphs->adjacency, graphs->neighbours, 4);
    std::copy(matrix.data(), matrix.data() + matrix.size(), out);
}
}
