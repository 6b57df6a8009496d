#pragma once

/// The door: what a daily user needs. Mark ranges, measure phases, summarise, print a table.
///
/// What holds everywhere unless a comment says otherwise:
/// Units: times are whole nanoseconds, in `nanoseconds`; a statistic is in `fractional_nanoseconds`.
/// Throws: `cuda_error` if and only if it calls CUDA. Without exceptions the same text is printed and the program
/// aborts. Entering a phase, leaving it and reading back never throw.
/// Sync: the host waits for nothing, and no stream waits for another.
/// Threads: one object is used by one thread at a time; different objects need no care.
/// What is not needed every day is included by name. Of measure/: `benchmark.hpp`, `rounds.hpp`, `span.hpp`,
/// `graph_replay.hpp` (with `graph_interval.hpp`), `graph_replay_by_wait.hpp`, `timeline.hpp`, `device_ranges.hpp`,
/// `kernel_floor.hpp`, `copy_roof.hpp`, `gate.hpp`, `device_readings.hpp`, `device_sampler.hpp`, `interval.hpp`,
/// `capture_guard.hpp`, `capture_window.hpp`, `phase_names.hpp`, `profile_plan.hpp`; of analyze/: `less_floor.hpp`,
/// `diagnosis.hpp`, `roofline.hpp`, `recording_comparison.hpp`, `merge.hpp`, `collector.hpp`, `stopping.hpp`,
/// `stream_timeline.hpp`, `critical_path.hpp`, `what_if.hpp`; of mark/: `filter.hpp`, `tool.hpp`, `name_color.hpp`,
/// `thread_name.hpp`, `deferred_range.hpp`; of report/: `measurement_text.hpp`, `contest_text.hpp`, `json.hpp`,
/// `recording_json.hpp`, `read_recording.hpp`, `csv.hpp`, `trace.hpp`, `html.hpp`, `comparison_table.hpp`,
/// `latency_table.hpp`, `roofline_table.hpp`, `critical_path_table.hpp`, `stream_graph_table.hpp`, `progress.hpp`.

#include <streamgauge/version.hpp>
#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/table.hpp>
#include <streamgauge/mark/domain.hpp>
#include <streamgauge/mark/range.hpp>
#include <streamgauge/measure/error.hpp>
#include <streamgauge/measure/conditions.hpp>
#include <streamgauge/measure/recorder.hpp>
#include <streamgauge/measure/phase.hpp>
