#pragma once

// The whole of Lamella in one include, layer by layer; docs/architecture.md is the map.

#include "anndata/concat.h"   // several AnnData as one
#include "anndata/convert.h"  // what is to be written of a store
#include "anndata/info.h"     // the element tree as data
#include "anndata/load.h"     // a store as a lazy tree
#include "anndata/subset.h"   // selections
#include "array/array.h"      // open(), Array, Group: what lies on disk
#include "array/sink.h"       // stores under construction
#include "base/error.h"       // the one exception type
#include "base/memory.h"      // budgets
#include "base/progress.h"    // progress and cancellation
#include "base/threads.h"     // the pool
#include "codec/codec.h"      // compressors
#include "lazy/expr.h"        // expressions over arrays
#include "matrix/matrix.h"    // dense and sparse matrices
#include "plan/convert.h"     // writing a recipe within a budget
#include "store/store.h"      // where bytes live
