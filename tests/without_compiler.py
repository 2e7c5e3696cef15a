"""Running the tests with the compiler off (``NUMBA_DISABLE_JIT=1``), to see which lines they reach.

Compiled code then runs as plain Python, hundreds of times slower. Hypothesis tries a few examples
per test, and tests made for large inputs are skipped; the ordinary run has them all. Used by
`conftest`; the gate itself is in ``.ci/coverage``.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

__all__ = ["COMPILER_IS_OFF", "lighten", "silent_arithmetic"]

COMPILER_IS_OFF = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

EXAMPLES = 3

# Tests whose inputs are large by design (many draws, long graphs, whole data sets): parts of names.
LARGE = (
    "test_planted_subtrees.py",
    "test_signature_table.py::test_few_and_many_distinct_signatures",
    "test_coordinates.py::test_large_graphs_by_iteration[star]",
    "test_coordinates.py::test_large_graphs_by_iteration[two cycles]",
    "test_coordinates.py::test_large_graphs_by_iteration[complete]",
    "test_random_walk.py::test_long_chains_whose_eigenvalues_crowd",
    "test_random_walk.py::test_sums_too_large_are_refused",
    "test_random_walk.py::test_molecules_against_the_definition",
    "test_distance.py::test_a_thousand_points_a_side",
    "test_distance.py::test_large_problems",
    "test_few_sinks.py::test_sources_in_an_order_that_misleads_the_sample",
    "test_few_sinks.py::test_many_sources_and_few_sinks[1-scattered]",
    "test_few_sinks.py::test_many_sources_and_few_sinks[3-scattered]",
    "test_few_sinks.py::test_many_sources_and_few_sinks[3-on a grid]",
    "test_few_sinks.py::test_threads_do_not_matter",
    "test_support_vectors.py::test_counts_are_those_of_scikit_learn[2-2]",
    "test_theta_program.py::test_known_values[Graph with 1000",
    "test_theta_program.py::test_known_values[Graph with 2001",
    "test_graph_hopper.py::test_counts_beyond_exact_integers",
    "test_sampling.py::test_uniform_draws_have_the_uniform_law",
    "test_sampling.py::test_walks_have_the_law_of_the_markov_chain",
    "test_sampling.py::test_walks_with_the_usual_patience_have_their_law",
    "test_sampling.py::test_classes_of_uniform_draws_have_the_exact_spectrum",
    "test_sampling.py::test_a_walk_with_another_flyback_would_fail",
    "test_sampling.py::test_a_restart_anywhere_but_at_a_new_node_would_fail",
    "test_sampling.py::test_an_ordered_draw_would_fail",
    "test_sampling.py::test_a_slightly_biased_draw_would_fail",
    "test_sampling.py::test_a_walk_is_not_a_uniform_draw",
    "test_sampling.py::test_a_flyback_near_one_is_drawn_exactly_and_at_once",
    "test_sampling.py::test_consecutive_draws_are_independent",
    "test_sampling.py::test_integers_below_a_bound_are_uniform",
    "test_sampling.py::test_many_distinct_patterns_are_told_apart",
    "test_spectrum.py::test_a_long_path_has_the_shares_of_combinatorics",
    "test_subgraph_matching.py::test_maps_give_what_types_give",
    "test_neighborhood_hash.py::test_codes_of_labels_are_the_same_in_every_process",
    "test_graphlet.py::test_many_samples_tend_to_the_exact_spectra",
    "test_graphlet.py::test_large_graphlets",
    "test_graphlet.py::test_p_values_are_uniform_under_the_hypothesis",
    "test_graph_sampling.py::test_many_samples_give_the_mean_over_the_law",
    "test_graph_sampling.py::test_the_match_map_estimates_the_graphlet_kernel",
    "test_graph_sampling.py::test_distances_of_embeddings_keep_the_bound",
    "test_feature_maps.py::test_random_numbers_have_their_laws",
    "test_feature_maps.py::test_inner_products_tend_to_the_kernels",
    "test_feature_maps.py::test_many_distinct_patterns_are_described_in_turns",
    "test_covariances.py::test_pairs_of_covariances[33]",
    "test_covariances.py::test_pairs_of_covariances[260]",
    "test_laplacian.py::test_large_graphs_neither_overflow_nor_underflow",
    "test_laplacian.py::test_many_labels_are_no_more_work_than_those_that_occur",
    "test_laplacian.py::test_laplacian_kernel_of_many_nodes",
    "test_multiscale.py::test_large_balls_and_long_graphs",
    "test_multiscale.py::test_real_molecules",
    "test_multiscale.py::test_more_rank_comes_closer_to_the_exact_kernel",
    "test_support_vectors.py::test_long_runs_lay_weights_aside",
    "test_strings.py::test_long_strings_are_the_plain_programme",
    "test_paths.py::test_temporary_memory_is_far_below_the_result",
    "test_paths.py::test_grid_search_picks_the_degree_in_other_processes",
)


def lighten(items: list[Any]) -> None:
    """Skip what is too large for the interpreter; let hypothesis try few examples."""
    skip = pytest.mark.skip(reason="too long without the compiler")
    for item in items:
        if any(name in item.nodeid for name in LARGE):
            item.add_marker(skip)
        test = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)  # methods of classes
        if getattr(test, "is_hypothesis_test", False):
            # The only place where the settings of a test can be changed after it was defined.
            own = getattr(test, "_hypothesis_internal_use_settings", None)
            few = settings(own, max_examples=EXAMPLES, deadline=None)
            test._hypothesis_internal_use_settings = few


def silent_arithmetic() -> Any:
    """Compiled code is silent where numpy's scalars warn.

    Hashes wrap around by intent, and whole vectors are computed where some lanes are padding that
    nobody reads.
    """
    return np.errstate(over="ignore", invalid="ignore")
