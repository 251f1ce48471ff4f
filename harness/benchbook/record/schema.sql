-- The tables of the results database. The comment above a table and the one behind a column become their
-- comments in the database, and docs/results.md is generated from them (tables.py reads this file).
-- The first column of a table says which run or trial a row belongs to. After a change of a column's name, type or
-- meaning, raise SCHEMA_VERSION in tables.py: databases of an older version are then rebuilt from the run folders.

-- One execution of an experiment, at a profile, on one machine.
CREATE TABLE runs (
    run_id VARCHAR NOT NULL,      -- Identity of the run: <experiment>-<YYYYMMDDTHHMMSS>-<4 hex>.
    experiment VARCHAR NOT NULL,  -- Slug of the experiment.
    title VARCHAR,                -- Title of the experiment.
    question VARCHAR,             -- The question that the experiment asks, in one sentence.
    profile VARCHAR NOT NULL,     -- How big: smoke, quick, published or another profile of the experiment.
    order_seed BIGINT,            -- Seed of the shuffled order of trials.
    planned_trials BIGINT,        -- Number of trials in the plan.
    trials_per_cell BIGINT,       -- Number of trials planned for each cell.
    created_at TIMESTAMP,         -- When the plan was made, UTC.
    started_at TIMESTAMP,         -- When the first trial could start, UTC.
    finished_at TIMESTAMP,        -- When the last trial had ended, UTC; NULL for an unfinished run.
    benchbook_version VARCHAR,    -- Version of the harness.
    git_revision VARCHAR,         -- Revision of the checkout; NULL outside a checkout.
    git_dirty BOOLEAN,            -- Whether the checkout had changes that were not committed.
    lock_digest VARCHAR,          -- sha256 of the lock of the Python packages.
    experiment_digest VARCHAR,    -- sha256 of the experiment's declaration.
    dataset_digest VARCHAR,       -- sha256 of the dataset's bytes.
    queries_digest VARCHAR,       -- sha256 of the query set.
    argv VARCHAR                  -- The command line, a JSON list.
);

-- Everything else that is known about a run: one row for each entry of each part of run.json.
CREATE TABLE run_facts (
    run_id VARCHAR NOT NULL,  -- Run the fact belongs to.
    topic VARCHAR NOT NULL,   -- Part of run.json: provenance, host, controls, dataset, programs, …; planned is the dataset, phases and factors of plan.json.
    key VARCHAR NOT NULL,     -- Entry in that part: name of the fact, control or system, or place in a list.
    value VARCHAR             -- The entry as JSON; read a part with value ->> '$.key'.
);

-- One fresh invocation of a cell: new server, new data folder, one measurement of every phase.
CREATE TABLE trials (
    trial_id VARCHAR NOT NULL,      -- Identity of the trial: <run_id>/<NNNN>.
    run_id VARCHAR NOT NULL,        -- Run the trial belongs to.
    experiment VARCHAR NOT NULL,    -- Slug of the experiment.
    profile VARCHAR NOT NULL,       -- How big: smoke, quick, published or another profile of the experiment.
    system VARCHAR NOT NULL,        -- System under test.
    arm VARCHAR,                    -- Configuration of the system: vanilla, tuned, published or as-published.
    storage VARCHAR,                -- Where the system kept its files.
    cell VARCHAR NOT NULL,          -- The combination of levels: factor=level, joined by commas.
    block BIGINT NOT NULL,          -- Pass over all cells, from 0; trials of one block are paired.
    position BIGINT NOT NULL,       -- Place in the order of its block, from 0.
    "index" BIGINT NOT NULL,        -- Place in the order of the whole run, from 0.
    status VARCHAR NOT NULL,        -- ok, failed, skipped or invalid.
    reason VARCHAR,                 -- Why the trial is not ok; NULL for an ok trial.
    started_at TIMESTAMP,           -- When it started, UTC.
    ended_at TIMESTAMP,             -- When it ended, UTC.
    duration_seconds DOUBLE,        -- Whole duration, s.
    start_seconds DOUBLE,           -- From the start of the server until it answered, s.
    overhead_seconds DOUBLE,        -- The harness's own share: neither server start nor a phase, s.
    telemetry_cost_seconds DOUBLE,  -- Processor time that taking telemetry samples took, s.
    version_reported VARCHAR,       -- The version that the running system stated.
    program VARCHAR,                -- What was started and where it came from, JSON.
    config_digest VARCHAR,          -- sha256 of the configuration files.
    dataset_digest VARCHAR,         -- sha256 of the dataset's bytes.
    queries_digest VARCHAR,         -- sha256 of the query set.
    cache_state VARCHAR,            -- Caches at the start: cold, warm, or lukewarm (not permitted to drop them, or some data stayed).
    data_to_memory DOUBLE,          -- Bytes of the dataset over bytes of memory of the machine, 1.
    storage_facts VARCHAR,          -- The storage's file system, mount, options and programs, JSON.
    load_before VARCHAR,            -- Load of the machine before the trial, and its settings that may change, JSON.
    confinement VARCHAR,            -- Limits of the system; cores of server and client, and why they share cores or not, JSON.
    unmeasured VARCHAR,             -- Metrics that could not be measured, each with the reason, JSON.
    placement VARCHAR               -- Machines of server and clients, and their clock offsets, JSON; NULL on one machine.
);

-- The level of each factor in a trial.
CREATE TABLE levels (
    trial_id VARCHAR NOT NULL,  -- Trial the row belongs to: <run_id>/<NNNN>.
    factor VARCHAR NOT NULL,    -- Variable of the experiment: system, arm, batch_size, …
    level VARCHAR               -- Its value in this trial, as text.
);

-- The phases of a trial, in order.
CREATE TABLE phases (
    trial_id VARCHAR NOT NULL,  -- Trial the row belongs to: <run_id>/<NNNN>.
    phase VARCHAR NOT NULL,     -- Phase of the trial: load, settle, a query type, …; trial for the whole.
    workload VARCHAR,           -- What was done: load, query, …; NULL for phases of the harness.
    position BIGINT,            -- Place in the trial, from 0.
    started_seconds DOUBLE,     -- Start, s since the start of the trial.
    duration_seconds DOUBLE,    -- Duration, s.
    timed BOOLEAN               -- Whether its duration is a measurement.
);

-- One number for each trial, phase and metric.
CREATE TABLE measurements (
    trial_id VARCHAR NOT NULL,  -- Trial the row belongs to: <run_id>/<NNNN>.
    phase VARCHAR NOT NULL,     -- Phase of the trial: load, settle, a query type, …; trial for the whole.
    metric VARCHAR NOT NULL,    -- Name of the metric, such as rows_per_second or latency_p99.
    value DOUBLE,               -- The number, in its unit.
    unit VARCHAR NOT NULL,      -- Unit: s, B, 1/s, B/s, or 1 for a plain number.
    direction VARCHAR NOT NULL  -- Which is better: higher, lower, or none.
);

-- What a client did in each short interval of a phase.
CREATE TABLE intervals (
    trial_id VARCHAR NOT NULL,  -- Trial the row belongs to: <run_id>/<NNNN>.
    phase VARCHAR NOT NULL,     -- Phase of the trial: load, settle, a query type, …; trial for the whole.
    operation VARCHAR,          -- Kind of operation: write, query or warmup.
    started_seconds DOUBLE,     -- Start, s since the start of the phase.
    duration_seconds DOUBLE,    -- Length, s.
    operations BIGINT,          -- Operations that ended in it.
    "rows" BIGINT,              -- Rows acknowledged in it.
    "values" BIGINT,            -- Values acknowledged in it.
    bytes BIGINT,               -- Bytes acknowledged in it, B.
    errors BIGINT,              -- Operations that failed in it.
    warmup BOOLEAN,             -- Whether it is warm-up, which measurements leave out.
    histogram VARCHAR           -- Latencies in it: HdrHistogram V2, base64, in ns; NULL if there are none.
);

-- What each of several clients did in each short interval of a phase.
CREATE TABLE client_intervals (
    trial_id VARCHAR NOT NULL,  -- Trial the row belongs to: <run_id>/<NNNN>.
    phase VARCHAR NOT NULL,     -- Phase of the trial: load, settle, a query type, …; trial for the whole.
    client BIGINT NOT NULL,     -- Which client, from 0.
    operation VARCHAR,          -- Kind of operation: write, query or warmup.
    started_seconds DOUBLE,     -- Start, s since the start of that client's clock.
    duration_seconds DOUBLE,    -- Length, s.
    operations BIGINT,          -- Operations that ended in it.
    "rows" BIGINT,              -- Rows acknowledged in it.
    errors BIGINT,              -- Operations that failed in it.
    histogram VARCHAR           -- Latencies in it: HdrHistogram V2, base64, in ns; NULL if there are none.
);

-- The whole latency distribution of a phase.
CREATE TABLE histograms (
    trial_id VARCHAR NOT NULL,  -- Trial the row belongs to: <run_id>/<NNNN>.
    phase VARCHAR NOT NULL,     -- Phase of the trial: load, settle, a query type, …; trial for the whole.
    operation VARCHAR,          -- Kind of operation: write, query or warmup.
    kind VARCHAR NOT NULL,      -- latency, or service (from the actual start) beside it in open loops.
    warmup BOOLEAN NOT NULL,    -- Whether it holds warm-up operations.
    "count" BIGINT,             -- Number of operations in it.
    histogram VARCHAR NOT NULL  -- HdrHistogram V2, base64, in ns.
);

-- Every single operation of runs with --record-operations; empty for other runs.
CREATE TABLE operations (
    trial_id VARCHAR NOT NULL,    -- Trial the row belongs to: <run_id>/<NNNN>.
    phase VARCHAR NOT NULL,       -- Phase of the trial: load, settle, a query type, …; trial for the whole.
    operation VARCHAR NOT NULL,   -- Kind of operation: write, query, warmup, put, get or delete.
    client BIGINT NOT NULL,       -- Client process, from 0.
    worker BIGINT NOT NULL,       -- Worker of that client, from 0: one connection with one operation on its way.
    intended_ns BIGINT NOT NULL,  -- When it should have begun, ns since the phase began; in a closed loop the first try.
    start_ns BIGINT NOT NULL,     -- When it began, on the same clock; the last try of a write that was repeated.
    end_ns BIGINT NOT NULL,       -- When its answer was whole, or it had failed, on the same clock.
    "rows" BIGINT NOT NULL,       -- Rows acknowledged or received.
    status VARCHAR NOT NULL,      -- ok, or the kind of its failure: refused, timeout, connection, server, answer, …
    warmup BOOLEAN NOT NULL       -- Whether it is warm-up, which measurements leave out.
);

-- Failed operations, by phase and kind.
CREATE TABLE errors (
    trial_id VARCHAR NOT NULL,  -- Trial the row belongs to: <run_id>/<NNNN>.
    phase VARCHAR NOT NULL,     -- Phase of the trial: load, settle, a query type, …; trial for the whole.
    kind VARCHAR NOT NULL,      -- Kind of failure: refused, timeout, connection, …
    status VARCHAR,             -- Status that the system gave, as text; NULL without one.
    message VARCHAR,            -- The first message of its kind.
    operations BIGINT,          -- How many operations failed this way.
    "rows" BIGINT               -- How many rows were in them.
);

-- What was checked outside the timed phases.
CREATE TABLE checks (
    trial_id VARCHAR NOT NULL,  -- Trial the row belongs to: <run_id>/<NNNN>.
    kind VARCHAR NOT NULL,      -- rows, values, points, acknowledged, optional, answers, timed, reads, objects, exhausted, limits, listening or other.
    name VARCHAR NOT NULL,      -- What was checked, for readers.
    expected VARCHAR,           -- What should have been found, JSON.
    found VARCHAR,              -- What was found, JSON.
    ok BOOLEAN NOT NULL         -- Whether they agree.
);

-- Answers to queries, taken outside the timed phases to compare systems.
CREATE TABLE answers (
    trial_id VARCHAR NOT NULL,    -- Trial the row belongs to: <run_id>/<NNNN>.
    query_type VARCHAR NOT NULL,  -- Type of the query.
    query_id VARCHAR NOT NULL,    -- Identity of the query among those of its type.
    digest VARCHAR,               -- sha256 of columns and rows as recorded.
    row_count BIGINT,             -- Rows in the answer.
    columns VARCHAR,              -- Names of the columns, a JSON list.
    "rows" VARCHAR                -- The rows, a JSON list of lists.
);

-- Samples of processor, memory, disk and pressure, once a second.
CREATE TABLE telemetry (
    trial_id VARCHAR NOT NULL,  -- Trial the row belongs to: <run_id>/<NNNN>.
    phase VARCHAR NOT NULL,     -- Phase of the trial: load, settle, a query type, …; trial for the whole.
    seconds DOUBLE NOT NULL,    -- When, s since the start of the trial.
    scope VARCHAR NOT NULL,     -- What was sampled: server, client, machine or harness.
    metric VARCHAR NOT NULL,    -- Name of the metric, such as cpu_seconds or rss_bytes.
    value DOUBLE,               -- The number, in its unit.
    unit VARCHAR NOT NULL       -- Unit: s, B, 1/s, B/s, or 1 for a plain number.
);

-- The version of these tables: one row.
CREATE TABLE schema_version (
    version BIGINT NOT NULL  -- Version of the tables; a file with an older version is rebuilt, one with a newer version refused.
);
