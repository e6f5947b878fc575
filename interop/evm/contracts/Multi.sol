// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// ERC-6909, written from its specification.
contract Multi {
    mapping(address => mapping(uint256 => uint256)) public balanceOf;
    mapping(address => mapping(address => mapping(uint256 => uint256))) public allowance;
    mapping(address => mapping(address => bool)) public isOperator;

    constructor(address holder, address other) {
        for (uint256 id = 0; id < 4; id++) {
            balanceOf[holder][id] = 1e12;
            balanceOf[other][id] = 1e12;
            allowance[other][holder][id] = 1e9;
        }
    }

    function transfer(address to, uint256 id, uint256 amount) external returns (bool) {
        balanceOf[msg.sender][id] -= amount;
        balanceOf[to][id] += amount;
        return true;
    }

    function transferFrom(address from, address to, uint256 id, uint256 amount) external returns (bool) {
        if (msg.sender != from && !isOperator[from][msg.sender] && allowance[from][msg.sender][id] != type(uint256).max) {
            allowance[from][msg.sender][id] -= amount;
        }
        balanceOf[from][id] -= amount;
        balanceOf[to][id] += amount;
        return true;
    }

    function approve(address spender, uint256 id, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender][id] = amount;
        return true;
    }

    function setOperator(address spender, bool approved) external returns (bool) {
        isOperator[msg.sender][spender] = approved;
        return true;
    }
}
