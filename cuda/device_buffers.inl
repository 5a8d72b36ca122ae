// SPDX-License-Identifier: MIT
// Every growing buffer of the device, by the stage that fills it. This is the one list of them: cuda/device.h includes it to
// declare the members of SandDevice, and destroy() in cuda/backend.cu to release them, so that a new buffer is one new line
// here and cannot leak. The including file defines
//   BUFFER(type, name)   an Array<type>
//   SHARED(type, name)   a Lent<type>: a part of the arena, which collision detection and the solve take turns in
//   SCRATCH(name)        temporary storage of sorts and scans
// Sizes are chosen where a stage reserves its buffers; unless a comment says otherwise contents live for one step.

BUFFER(uint8_t, arena) // what SHARED buffers are parts of

// --- world: the bodies, which stay on the device between steps ---
SAND_BODY_ARRAYS(BUFFER)
BUFFER(SandShape, shapes)
BUFFER(SandPair, laws) // of each pair of materials
BUFFER(SandOutlet, outlets)
BUFFER(SandInlet, inlets)
BUFFER(uint8_t, blocked)     // of each cell of each inlet: something reaches into it
BUFFER(SandVec3, push_force) // on each body in this step, from the host; as is the next
BUFFER(SandVec3, push_torque)
BUFFER(uint8_t, settings_data) // boundaries with their poses in this step, and joints: see cuda/step/settings.cu

// --- of one rank of several: cuda/ranks/subdomain.cu; of each held body, where nothing else is said ---
BUFFER(int, number)        // which one it is of the world; kept, as are the next two
BUFFER(uint8_t, is_ghost)  // another rank has it as its own
BUFFER(uint8_t, owner)     // that rank
BUFFER(float, reach)       // m, extent of its proxy, or a little more; 0: it takes no part
BUFFER(double, margin)     // m, impact margin
SHARED(uint16_t, chunk_of) // the chunk of sums that it is in; NO_CHUNK: none
SHARED(uint64_t, mask)     // ranks that it, or each sphere, is sent to; by solver index, ranks that hold a contact of it
BUFFER(int, impact_starts) // as cell_starts and cell_counts, while impacts are looked for
BUFFER(int, impact_counts)
BUFFER(uint8_t, messages_out) // records for other ranks
BUFFER(uint8_t, messages_in)
BUFFER(int, message_counts) // of each rank
BUFFER(ReachBox, boxes_of_ranks)
BUFFER(KeptContact, arrived) // impulses of the contacts of bodies that have come in this step, sorted
BUFFER(int, chunk_body)      // of each own chunk, its first body by solver index; one more for the end
BUFFER(int, chunk_contact)   // and its first contact
BUFFER(int, chunk_solved)    // the same among the contacts that are solved, where some rest
BUFFER(unsigned long long, chunk_work)
BUFFER(double, chunk_energy) // kinetic and potential
BUFFER(int, send)            // solver indices of own bodies that are ghosts elsewhere, neighbor by neighbor
BUFFER(int, receive)         // and of ghosts

// --- rendering ---
BUFFER(int, instance_first)    // of each body
BUFFER(float, instance_values) // of each body, when bodies are colored by their contacts

// --- broad phase: a sphere is one of a body's spheres, by its number or by its place in the sorted order ---
BUFFER(SandCollision, device_collision) // the one that kernels read and write: sizes and pointers
SHARED(int, sphere_count)               // of each body
SHARED(int, sphere_first)               // of each body; later the number of contacts that it owns
SHARED(SandSphereProxy, spheres)
SHARED(SandSphereProxy, sorted)
SHARED(float4, cull_bounds) // of CullArrays, as are the next two
SHARED(float4, cull_motion)
SHARED(float2, cull_size)
SHARED(double, impact_margin) // of each sphere
BUFFER(LevelTally, tally)
SHARED(uint32_t, cell_of) // of each sphere
SHARED(uint32_t, cell_sorted)
SHARED(int, sphere_order)  // sorted position to sphere
SHARED(int, cell_starts)   // of each cell
SHARED(int, cell_counts)   // spheres of each cell
SHARED(int, sphere_number) // 0, 1, 2, ...
SHARED(int, spatial_order)
BUFFER(int, solver_index) // of each body
BUFFER(int, body)         // of each solver index
BUFFER(int, iota)         // 0, 1, 2, ...; kept

// --- broad phase of convex bodies, as above ---
BUFFER(int, convex_active) // of each body: whether it is a convex one that takes part
BUFFER(int, convex_first)  // of each body: how many of them come before it
BUFFER(SandSphereProxy, convex_spheres)
BUFFER(SandSphereProxy, convex_sorted)
BUFFER(float4, convex_bounds) // of the sorted proxies, for culling
BUFFER(uint32_t, convex_cell)
BUFFER(uint32_t, convex_cell_sorted)
BUFFER(int, convex_order)
BUFFER(int, convex_starts)
BUFFER(int, convex_counts)
BUFFER(int, convex_spatial_order)

// --- narrow phase of convex bodies: pairs that are near each other ---
BUFFER(NearPair, near_slots) // the first of each proxy
BUFFER(int, near_count)      // of each proxy
BUFFER(int, near_first)
BUFFER(NearPair, near_pairs)
BUFFER(ConvexGap, near_gaps) // of each pair, as the next
BUFFER(Manifold, near_manifolds)
BUFFER(int, near_close) // pairs: see PairWork in cuda/collision/convex_pairs.cu
BUFFER(int, near_touching)
BUFFER(int, near_overlapping)
SCRATCH(near_scratch)

// --- second look: cuda/collision/second_look.cu ---
BUFFER(SandVec3, end_position) // of each body at the end of the step, as are the next three
BUFFER(SandQuat, end_rotation)
BUFFER(SandVec3, end_velocity)
BUFFER(SandVec3, end_spin)
BUFFER(SandVec3, found_velocity) // of each solver index, as is the next: what the solve gave it
BUFFER(SandVec3, found_spin)
BUFFER(SandPose, end_pose) // of each boundary
BUFFER(SandCollision, end_collision)
BUFFER(SandContactCandidate, missing) // kept while the step is repeated

// --- narrow phase ---
SHARED(int, neighbors)  // the first neighbors of each sphere: see NEIGHBOR_SLOTS in cuda/collision/collide.cu
SHARED(int, crowded)    // spheres that have more
SHARED(int, item_count) // contacts of each item: see item_of in cuda/collision/collide.cu
SHARED(int, item_first)
SHARED(int, pairs)                       // SpherePair of each contact: see cuda/collision/collide.cu
SHARED(SandContactCandidate, candidates) // in the order of the spheres that found them; see cuda/arena.h
SHARED(int, candidate_order)             // their numbers, by the solver index of their owner
BUFFER(uint32_t, keys)                   // of each contact: its owner, then its second body, then its color
BUFFER(uint32_t, keys_sorted)
BUFFER(int, first)                  // contact of each solver index
BUFFER(SandContactCandidate, walls) // those with boundaries, where the solve takes the memory of all others
SCRATCH(scratch)

// --- what rests is left out: cuda/step/sleep.cu ---
BUFFER(uint32_t, touches) // of each solver index, as is the next
BUFFER(FixedSum, sleep_sum)
BUFFER(int, chosen)       // whether each contact is solved
BUFFER(int, solved_place) // and as which of them
BUFFER(int, solved_order) // of each contact that is solved, as are the next two and the last
BUFFER(Impulse, solved_start)
BUFFER(uint32_t, solved_second)
BUFFER(int, solved_first) // of each solver index
BUFFER(Impulse, solved_impulse)
BUFFER(Impulse, solved_start_torque) // where contacts have torques, as the next
BUFFER(Impulse, solved_torque)
SHARED(uint8_t, index_scratch) // for a sort that may run beside one that uses the other

// --- warm start ---
BUFFER(int, kept_solver_index) // of the last step, as are all of these
BUFFER(int, kept_first)
BUFFER(SandContactKey, kept_key)
BUFFER(Impulse, kept_impulse)
BUFFER(Impulse, kept_torque)  // where contacts have torques
BUFFER(double, kept_approach) // where contacts bounce
SHARED(Impulse, start)
BUFFER(Impulse, start_torque) // where contacts have torques

// --- laws of pairs of materials: cuda/step/laws.cu ---
BUFFER(SandImpact, impacts) // of each candidate
BUFFER(FixedSum, pulls)     // of each solver index

// --- problem ---
SHARED(SandProblemBody, bodies)
BUFFER(SandContact, contacts)         // of a standalone problem
BUFFER(Impulse, problem_start)        // the same: impulses to start from
BUFFER(int, problem_joint)            // the same: which of its contacts are blocks of joints
BUFFER(SandJointRows, problem_joints) // rows of each block of a joint, of a world or of a standalone problem
BUFFER(SandContact, block_contacts)   // of a world: each block of a joint as a contact
BUFFER(int, second)                   // contacts where a body is the second one, in CSR form: rows
BUFFER(int, list)                     // and items
BUFFER(int, row_counts)
BUFFER(int, high_degree)
BUFFER(int, high_degree_segment)
BUFFER(int, segment_body)
BUFFER(double, partials) // of each thread block that packs contacts

// --- coloring ---
BUFFER(unsigned long long, used_colors) // two words a body: colors of its contacts
BUFFER(int, color_ready)                // of each contact: it takes a color in this round
BUFFER(int, color_rows)                 // of all colors
BUFFER(int, color_first)                // of the colors in use
BUFFER(int, color_list)
BUFFER(float, batch_step)

// --- cells of the coarse correction ---
BUFFER(uint8_t, boxes) // around the bodies that each thread block looks at
BUFFER(uint32_t, body_cell)
BUFFER(int, body_cell_counts)
BUFFER(int, body_cell_first)
BUFFER(int, body_cell_list)
BUFFER(uint32_t, body_cell_sorted)
BUFFER(float, moments)
BUFFER(float, place)
BUFFER(float, field)
BUFFER(float, coarse) // parts and matrices of the cells, vectors over the nodes

// --- blocks of contacts: cuda/solver/blocks.cu; what BlockParts points to ---
BUFFER(unsigned long long, block_cell) // of each moving body: coordinates of its cell
BUFFER(int, block_cell_counts)
BUFFER(int, block_cell_rows)
BUFFER(int, block_list) // contacts by cell
BUFFER(int, block_first)
BUFFER(int, block_color_first)
BUFFER(double, block_sum)
BUFFER(int, block_place) // of the cell of each block
BUFFER(int, block_weight)
BUFFER(int, block_bin)
BUFFER(int, block_near)
BUFFER(BlockHead, block_head)
BUFFER(int, block_done)
BUFFER(int, body_first_part)
BUFFER(uint32_t, part_header)
BUFFER(int, part_tile_end)
BUFFER(uint32_t, part_body)
BUFFER(uint8_t, part_sleep)
BUFFER(int, part_contact)
BUFFER(uint32_t, part_pair)

// --- solver: what KernelArrays points to ---
SHARED(int, a)
SHARED(int, b)
SHARED(float, constant)
SHARED(float, bounce)
SHARED(float, impulse)
SHARED(float, record)
SHARED(float, arm_a_record)
SHARED(float, arm_b_record)
SHARED(float, bound)
SHARED(float, de_saxce)
SHARED(float, vectors)
SHARED(float, kernel_mass)
SHARED(float, kernel_inertia)
SHARED(float, kernel_free)
SHARED(float, kernel_body)
SHARED(float, kernel_scratch)
SHARED(float, kernel_measured)
SHARED(float, kernel_last)
BUFFER(float, still)
BUFFER(float, segment_sum)
BUFFER(uint8_t, solve_state)
BUFFER(uint8_t, launch_shared)

// --- one rank of several, of a standalone problem: what RankProblem points to ---
BUFFER(int, rank_chunks)
BUFFER(int, rank_send)
BUFFER(int, rank_receive)

// --- probes: cuda/step/probes.cu ---
BUFFER(SandExactSum, probe_sums)
BUFFER(uint32_t, carrying) // of each solver index: contacts that carry a force

// --- results ---
BUFFER(SandCurvePoint, curve)
BUFFER(double, energies) // kinetic and potential of each thread block

#undef BUFFER
#undef SHARED
#undef SCRATCH
